import AppAttest
import Crypto
import TestKit
import Testing

@testable import Pipeline

/// Field 14 of a key's record in the ledger topic.
struct UnseenCountersCodecTests {
    private static let id = KeyID(SHA256.hash([1]))

    /// A key's record in the ledger topic, with these bytes as its last field.
    private static func value(_ field: [UInt8]) -> [UInt8] {
        var record = KeyRecord.sample(P256PublicKey(uncheckedX: id.digest, y: id.digest), counter: 300)
        record.unseen = 7
        let written = LedgerCodec.encode(.key(id, record)).value ?? []
        #expect(written.suffix(2) == [0x0E, 0x07])
        return written.dropLast(2) + field
    }

    private static func decoded(_ value: [UInt8]) throws -> KeyRecord? {
        guard case .key(id, let record) = try LedgerCodec.decode(key: [1] + id.bytes, value: value) else { return nil }
        return record
    }

    @Test(arguments: [([0x0E, 0x01], 1), ([0x0E, 0x18, 0x40], 64), ([0x0E, 0x18, 0xFF], 255)] as [([UInt8], UInt8)])
    func `the fast decoder reads what is written`(field: [UInt8], unseen: UInt8) throws {
        let value = Self.value(field)
        #expect(PlainKeyRecord(value.span, in: 0..<value.count)?.unseen == unseen)
        #expect(try Self.decoded(value)?.unseen == unseen)
    }

    @Test(arguments: [[0x0E, 0x18, 0x41], [0x0E, 0x18, 0xFE], [0x0E, 0x19, 0x01, 0x00]] as [[UInt8]])
    func `more unseen counters than any window reaches are all`(field: [UInt8]) throws {
        let value = Self.value(field)
        #expect(PlainKeyRecord(value.span, in: 0..<value.count) == nil)
        #expect(try Self.decoded(value)?.unseen == KeyCounters.allUnseen)
    }
}
