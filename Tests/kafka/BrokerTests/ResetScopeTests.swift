import Pipeline
import Testing

@testable import Broker

@Suite("Where a reset moves an offset")
struct ResetScopeTests {
    @Test func `a moved ledger goes back to what was applied, else to the group's offset, else to the start`() throws {
        var scope = ResetScope()
        scope.target = .applied
        let found = RequestOffsets(partition: 2, committed: nil, low: 3, high: 9)
        #expect(try scope.offset(of: found, mark: PartitionMark(appliedOffset: 7, partitions: -4)) == 7)
        // Else its mark would go on to say that the keys were moved, and hold all partitions.
        #expect(try scope.offset(of: found, mark: PartitionMark(partitions: -4)) == 3)
        let read = RequestOffsets(partition: 2, committed: 5, low: 3, high: 9)
        #expect(try scope.offset(of: read, mark: PartitionMark(partitions: -4)) == 5, "nothing is judged once more")
        for mark in [nil, PartitionMark(partitions: 4), PartitionMark()] {
            #expect(try scope.offset(of: found, mark: mark) == nil)
        }
    }
}
