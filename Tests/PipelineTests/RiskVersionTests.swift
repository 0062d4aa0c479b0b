import AppAttest
import Crypto
import Streams
import Testing

@testable import Pipeline

/// Key records as versions with and without the risk metric write and read them.
@Suite("The risk metric and other versions")
struct RiskVersionTests {
    private static let id = KeyID(SHA256.hash([1]))
    private static let plain = LedgerCodecTests.full

    private static var rated: KeyRecord {
        var record = plain
        record.risk = RiskMetric(7, createdAt: 1_790_000_000)
        return record
    }

    private static func value(_ record: KeyRecord) throws -> [UInt8] {
        try #require(LedgerCodec.encode(.key(id, record)).value)
    }

    private static func decoded(_ value: [UInt8]) throws -> KeyRecord? {
        let key = LedgerCodec.encode(.key(id, plain)).key
        guard case .key(id, let record) = try LedgerCodec.decode(key: key, value: value) else { return nil }
        return record
    }

    @Test func `without a metric a record has the bytes that it had before there were metrics`() throws {
        let (before, with) = (try Self.value(Self.plain), try Self.value(Self.rated))
        // One field more in the head, and the field behind all others.
        #expect(with.first == before[0] + 1 && with.dropFirst().starts(with: before.dropFirst()))
        #expect(with[before.count] == 11)
        var cleared = Self.rated
        cleared.risk = nil
        #expect(try Self.value(cleared) == before, "as a version without metrics writes it")
    }

    /// A field that this version does not know is to it what the metric is to the versions before.
    @Test func `a record with a later version's field is read by the general decoder, and loses it at the next write`()
        throws
    {
        let known = try Self.value(Self.rated)
        let later = [known[0] + 1] + known.dropFirst() + [0x0C, 0x82, 0x01, 0x02]
        let isPlain = [later, known].map { PlainKeyRecord($0.span, in: $0.indices) != nil }
        #expect(isPlain == [false, true], "the fast decoder leaves it")
        let record = try #require(try Self.decoded(later))
        #expect(try Self.value(record) == known)
        var ledger = KeyLedger()
        let isSet = ledger.setPlain(Self.id, later.span, in: later.indices)
        #expect(!isSet)
        ledger.set(Self.id, record, unlessLower: true)
        #expect(ledger[Self.id] == Self.rated)
    }

    @Test func `what a version without metrics writes over a metric takes it away`() throws {
        var ledger = KeyLedger()
        ledger.set(Self.id, Self.rated, unlessLower: true)
        let before = try Self.value(Self.plain)
        let isSet = ledger.setPlain(Self.id, before.span, in: before.indices)
        #expect(isSet)
        #expect(ledger[Self.id]?.risk == nil && ledger[Self.id] == Self.plain)
    }
}
