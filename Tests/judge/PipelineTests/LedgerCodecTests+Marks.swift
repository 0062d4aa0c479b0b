import Pipeline
import Streams
import Testing

extension LedgerCodecTests {
    @Test(arguments: [(0, [0]), (3, [3]), (24, [0x18, 0x18]), (-1, [0x20]), (-3, [0x22])] as [(Int32, [UInt8])])
    func `a mark's number of partitions may be that of a move, or of a ledger that was moved`(
        partitions: Int32,
        bytes: [UInt8]
    ) throws {
        let change = LedgerChange.mark(PartitionMark(partitions: partitions))
        let (key, value) = LedgerCodec.encode(change)
        #expect(key == [4] && value == [0xA2, 0, 1, 8] + bytes)
        #expect(try LedgerCodec.decode(key: key, value: value) == change)
    }

    @Test(
        arguments: [
            ([8, 0x41, 1], "field 8 is not a number"), ([8, 0x61, 0x33], "field 8 is not a number"),
            ([8, 0x1A, 0x80, 0, 0, 0], "field 8 is not a number of partitions"),
            ([8, 0x3A, 0x80, 0, 0, 0], "field 8 is not a number of partitions"),
        ] as [([UInt8], String)]
    )
    func `a mark whose number of partitions cannot be read is refused, never ignored`(
        field: [UInt8],
        reason: String
    ) throws {
        let fault = #expect(throws: LedgerCodec.Fault.self) {
            try LedgerCodec.decode(key: [4], value: [0xA2, 0, 1] + field)
        }
        #expect(fault?.reason == reason)
    }

    /// An older version's mark, and what an older version reads of ours: it ignores the field that it does not know.
    @Test func `a mark without a number of partitions, or with unknown fields, is a mark`() throws {
        let older = try LedgerCodec.decode(key: [4], value: [0xA4, 0, 1, 2, 5, 3, 0x41, 0x61, 4, 0])
        #expect(older == .mark(PartitionMark(appliedOffset: 5, group: [0x61], delivery: .transaction)))
        let newer = try LedgerCodec.decode(key: [4], value: [0xA3, 0, 1, 2, 5, 0x18, 0x63, 0x41, 1])
        #expect(newer == .mark(PartitionMark(appliedOffset: 5)))
    }
}
