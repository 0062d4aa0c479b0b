import Broker
import KafkaPorts
import Settings
import Streams
import Testing

@testable import ServiceKit
@testable import SimulationKit

@Suite("A reset in a world")
struct LedgerResetTests {
    @Test func `a reset that meets a record of somebody else while it reads forgets nothing`() throws {
        let world = try ServiceWorld(.rough(seed: 1), ServiceWorld.Shared())
        #expect(world.run().isEmpty)
        world.fleet.stopAll()
        let broker = world.fleet.broker
        func end() -> Int64 { Int64(broker.log(.ledger, 0).highWatermark) }
        var writes = 1
        // What a worker leaves that comes and goes.
        func write() throws {
            let writer = try LedgerWriter(world.access(to: broker))
            try writer.open()
            var record: StoredRecord? = StoredRecord(partition: 0, key: [99], value: [1])
            try writer.write(from: broker.partitions.map { _ in end() }) { record.take() }
        }
        func reset() throws -> LedgerReset {
            try LedgerReset(world.access(to: broker), ResetScope(), writes: false) { _ in
                writes -= 1
                if writes == 0 { #expect(throws: Never.self) { try write() } }
            }
        }
        let fault = #expect(throws: CommandFault.self) { _ = try reset() }
        #expect(fault?.sentence.contains("another process wrote to appattest.ledger, partition 0") ?? false)
        #expect(try reset().total > 0)
    }
}
