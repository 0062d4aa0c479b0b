import AppAttest
import Crypto
import DeviceLab
import Streams
import TestKit
import Testing

@testable import Pipeline

/// The ledger topic's records against the table in ``LedgerCodec``: other versions read what this one writes.
@Suite("Ledger records, byte for byte")
struct LedgerCodecTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let change: LedgerChange
        let key: [UInt8]
        let value: [UInt8]?
        var testDescription: String { name }

        init(_ name: String, _ change: LedgerChange, _ key: [UInt8], _ value: [UInt8]?) {
            (self.name, self.change, self.key, self.value) = (name, change, key, value)
        }
    }

    private static func digest(_ byte: UInt8) -> Digest {
        guard let digest = Digest([UInt8](repeating: byte, count: 32)) else { preconditionFailure("32 bytes") }
        return digest
    }

    private static func time(_ milliseconds: Int64) -> EvaluationTime { EvaluationTime(milliseconds: milliseconds) }
    private static func bytes(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

    static let full = KeyRecord(
        publicKey: P256PublicKey(uncheckedX: digest(0xA1), y: digest(0xA2)),
        counter: 300,
        app: "projects/1/apps/a",
        appleAppID: "T.b",
        environment: .production,
        validationCategory: 4,
        registeredAt: EvaluationTime(milliseconds: 1_790_000_000_000),
        nonce: digest(0xA3),
        lastRequest: LastRequest(id: "r-1", valueDigest: digest(0xA4), issuedAt: 1, expiresAt: 70_000)
    )

    private static var bare: KeyRecord {
        var record = KeyRecord.sample(registeredAt: -1)
        (record.appleAppID, record.environment, record.unusableKey) = ("", .development, [9, 9])
        return record
    }

    private static let fullValue: [UInt8] =
        [0xAA, 0x00, 0x01, 0x01, 0x58, 0x40] + bytes(0xA1) + bytes(0xA2)
        + [0x02, 0x19, 0x01, 0x2C, 0x03, 0x71] + Array("projects/1/apps/a".utf8)
        + [0x04, 0x63] + Array("T.b".utf8)
        + [0x05, 0x01, 0x06, 0x04, 0x07, 0x1B, 0x00, 0x00, 0x01, 0xA0, 0xC4, 0x50, 0x6C, 0x00]
        + [0x08, 0x58, 0x20] + bytes(0xA3)
        + [0x09, 0x84, 0x63] + Array("r-1".utf8) + [0x58, 0x20] + bytes(0xA4)
        + [0x01, 0x1A, 0x00, 0x01, 0x11, 0x70]

    /// The same with a tenth field, which earlier versions neither write nor ask for.
    private static var issued: KeyRecord {
        var record = full
        record.issued = IssueTime(notBefore: EvaluationTime(milliseconds: 1_790_000_000_000), serial: 70_000)
        return record
    }

    private static let issuedValue: [UInt8] = adding(
        [0x0A, 0x82, 0x1B, 0x00, 0x00, 0x01, 0xA0, 0xC4, 0x50, 0x6C, 0x00, 0x1A, 0x00, 0x01, 0x11, 0x70],
        to: fullValue
    )

    private static func adding(_ field: [UInt8], to value: [UInt8] = issuedValue) -> [UInt8] {
        [value[0] + 1] + value.dropFirst() + field
    }

    /// With an eleventh field, which the versions before ignore.
    private static var rated: KeyRecord {
        var record = issued
        record.risk = RiskMetric(300, createdAt: 1_790_000_000)
        return record
    }

    /// With a twelfth: of the counters below 300, 299 and 297 may still be used.
    private static var skipped: KeyRecord {
        var record = issued
        record.counters = KeyCounters(highest: 300, skipped: 0b101)
        return record
    }

    /// With a fourteenth: seven counters above 300 may have been used unseen.
    private static var unseen: KeyRecord {
        var record = issued
        record.unseen = 7
        return record
    }

    /// With a thirteenth: its last use, which is noted while keys end.
    private static var used: KeyRecord {
        var record = issued
        record.lastUse = 1_790_000_000
        return record
    }

    static let id = KeyID(digest(1))
    private static let consumed = ConsumedID(expiresAt: time(1_000), request: digest(0xB2))
    private static let consumedValue: [UInt8] =
        [0xA3, 0x00, 0x01, 0x01, 0x19, 0x03, 0xE8, 0x02, 0x58, 0x20] + bytes(0xB2)

    private static func key(_ name: String, _ record: KeyRecord, _ value: [UInt8]) -> Case {
        Case(name, .key(id, record), [1] + bytes(1), value)
    }

    private static func mark(_ name: String, _ mark: PartitionMark, _ value: [UInt8]) -> Case {
        Case(name, .mark(mark), [4], value)
    }

    private static func ban(_ name: String, _ ban: Ban, _ value: [UInt8]) -> Case {
        Case(name, .ban(digest(7), ban), [7] + bytes(7), value)
    }

    static let cases: [Case] = [
        key("a key", full, fullValue), key("a key whose last attestation's issue is known", issued, issuedValue),
        key("a key with a risk metric", rated, adding([0x0B, 0x82, 0x19, 0x01, 0x2C, 0x1A, 0x6A, 0xB1, 0x3B, 0x80])),
        key("a key that has skipped counters", skipped, adding([0x0C, 0x05])),
        key("a key with its last use", used, adding([0x0D, 0x1A, 0x6A, 0xB1, 0x3B, 0x80])),
        key("a key with unseen counters", unseen, adding([0x0E, 0x07])),
        key("a key of which little is known", bare, [0xA6, 0, 1, 1, 0x42, 9, 9, 2, 0, 4, 0x60, 5, 0, 7, 0x20]),
        Case("a forgotten key", .keyForgotten(id), [1] + bytes(1), nil),
        Case("a challenge", .challenge(digest(2), consumed), [2] + bytes(2), consumedValue),
        Case("a forgotten challenge", .challengeForgotten(digest(2)), [2] + bytes(2), nil),
        Case("a token", .token(digest(3), consumed), [3] + bytes(3), consumedValue),
        Case("a forgotten token", .tokenForgotten(digest(3)), [3] + bytes(3), nil),
        mark("a stream time", PartitionMark(streamTime: time(500)), [0xA2, 0, 1, 1, 0x19, 0x01, 0xF4]),
        mark(
            "a stream time and since when uses are noted",
            PartitionMark(streamTime: time(500), usesSince: time(23)),
            [0xA3, 0, 1, 1, 0x19, 0x01, 0xF4, 6, 0x17]
        ),
        mark(
            "a stream time and what was applied",
            PartitionMark(streamTime: time(23), appliedOffset: 24),
            [0xA3, 0, 1, 1, 0x17, 2, 0x18, 0x18]
        ),
        mark("what was applied", PartitionMark(appliedOffset: 0), [0xA2, 0, 1, 2, 0]),
        mark("no stream time", PartitionMark(), [0xA1, 0, 1]),
        mark("a move that has not ended", PartitionMark(partitions: 0), [0xA2, 0, 1, 8, 0]),
        mark("a ledger whose keys were moved away", PartitionMark(partitions: -3), [0xA2, 0, 1, 8, 0x22]),
        mark(
            "all of a mark",
            PartitionMark(
                streamTime: time(1),
                appliedOffset: 2,
                group: [0xFF, 0x61],
                delivery: .atLeastOnceUncommitted,
                writer: [0x62, 0xFE],
                partitions: 24,
                move: [0x63, 0xFD]
            ),
            [
                0xA8, 0, 1, 1, 1, 2, 2, 3, 0x42, 0xFF, 0x61, 4, 2, 7, 0x42, 0x62, 0xFE, 8, 0x18, 0x18, 9, 0x42, 0x63,
                0xFD,
            ]
        ),
        mark(
            "a transaction's mark of an empty group",
            PartitionMark(appliedOffset: 0, group: [], delivery: .transaction),
            [0xA4, 0, 1, 2, 0, 3, 0x40, 4, 0]
        ),
        Case("a forgotten mark", .markForgotten, [4], nil),
        Case(
            "a rate",
            .rate(app: "é", RateCount(start: time(1), count: 2)),
            [5, 0xC3, 0xA9],
            [0xA3, 0, 1, 1, 1, 2, 2]
        ),
        Case("a sealing key", .sealingKey(0x0102_0304, since: time(0)), [6, 1, 2, 3, 4], [0xA2, 0, 1, 1, 0]),
        Case("a forgotten sealing key", .sealingKeyForgotten(0x0102_0304), [6, 1, 2, 3, 4], nil),
        ban(
            "a key's ban with its end and its record",
            Ban(.key, since: time(1_000), until: time(70_000), offset: 24),
            [0xA5, 0, 1, 1, 0x19, 0x03, 0xE8, 2, 1, 3, 0x1A, 0x00, 0x01, 0x11, 0x70, 4, 0x18, 0x18]
        ),
        ban("a banned key", Ban(.key, since: time(1_000)), [0xA3, 0, 1, 1, 0x19, 0x03, 0xE8, 2, 1]),
        ban("a banned installation", Ban(.installation, since: time(0)), [0xA3, 0, 1, 1, 0, 2, 2]),
        Case("a ban that was lifted", .banLifted(digest(7)), [7] + bytes(7), nil),
    ]

    /// As versions before `--until` read a ban with an end: the fields that they know are the same, and what they do not
    /// know they ignore, so that they keep the ban.
    @Test func `a ban with fields that a reader does not know is a ban`() throws {
        let value: [UInt8] = [0xA4, 0, 1, 1, 0x19, 0x03, 0xE8, 2, 1, 5, 0x43, 1, 2, 3]
        let read = try LedgerCodec.decode(key: [7] + Self.bytes(7), value: value)
        #expect(read == .ban(Self.digest(7), Ban(.key, since: EvaluationTime(milliseconds: 1_000))))
    }

    /// An older version's mark, and what an older version reads of ours: it ignores the field that it does not know.
    @Test func `a mark without a number of partitions, or with unknown fields, is a mark`() throws {
        let older = try LedgerCodec.decode(key: [4], value: [0xA4, 0, 1, 2, 5, 3, 0x41, 0x61, 4, 0])
        #expect(older == .mark(PartitionMark(appliedOffset: 5, group: [0x61], delivery: .transaction)))
        let newer = try LedgerCodec.decode(key: [4], value: [0xA3, 0, 1, 2, 5, 0x18, 0x63, 0x41, 1])
        #expect(newer == .mark(PartitionMark(appliedOffset: 5)))
    }

    private static let unfit: [[UInt8]] = [
        // A time of issue: another number of parts, a negative serial number, a time beyond the calendar.
        [0x0A, 0x81, 1], [0x0A, 0x83, 1, 1, 1], [0x0A, 0x82, 1, 0x20],
        [0x0A, 0x82, 0x1B, 0x7F, 0, 0, 0, 0, 0, 0, 0, 1],
        // A risk metric.
        [0x0B, 0x82, 0x1A, 0, 1, 0, 0, 1], [0x0B, 0x82, 1, 0], [0x0B, 0x82, 1, 0x1B, 0, 0, 0, 1, 0, 0, 0, 0],
        [0x0B, 0x81, 1], [0x0B, 0x83, 1, 1, 1], [0x0B, 1], [0x0B, 0x82, 0x20, 1], [0x0B, 0x82, 1, 0x20],
        [0x0B, 0x82, 0x61, 0x31, 1],
        // Numbers.
        [0x0C, 0x20], [0x0C, 0x40], [0x0C, 0x81, 1], [0x0C, 0xF6], [0x0E, 0x20], [0x0E, 0x40], [0x0E, 0xF6],
    ]

    @Test(arguments: unfit)
    func `a field beyond its bounds is refused, by the fast decoder too`(field: [UInt8]) {
        let kinds: [UInt8: String] = [0x0A: "time of issue", 0x0B: "risk metric"]
        let fault = LedgerCodec.Fault(reason: "field \(field[0]) is not a \(kinds[field[0]] ?? "number")")
        let value = Self.adding(field, to: Self.fullValue)
        #expect(throws: fault) { try Self.decoded(value) }
        #expect(PlainKeyRecord(value.span, in: 0..<value.count) == nil)
    }

    static func decoded(_ value: [UInt8]) throws -> KeyRecord? {
        guard case .key(id, let record) = try LedgerCodec.decode(key: [1] + bytes(1), value: value) else { return nil }
        return record
    }

    @Test(arguments: [[0x0E, 0x18, 0x41], [0x0E, 0x18, 0xFE], [0x0E, 0x19, 0x01, 0x00]] as [[UInt8]])
    func `more unseen counters than any window reaches are all`(field: [UInt8]) throws {
        let value = Self.adding(field)
        #expect(PlainKeyRecord(value.span, in: 0..<value.count) == nil)
        #expect(try Self.decoded(value)?.unseen == KeyCounters.allUnseen)
    }

    /// The counter is 300; bits for counters of 0 and below cannot be used.
    @Test func `bits of counters that do not exist are dropped`() throws {
        var low = Self.skipped
        (low.counter, low.skipped) = (2, .max)
        let bytes = try #require(LedgerCodec.encode(.key(Self.id, low)).value)
        #expect(PlainKeyRecord(bytes.span, in: bytes.indices) == nil)
        #expect(try Self.decoded(bytes)?.counters == KeyCounters(highest: 2, skipped: 1))
    }

    @Test(arguments: cases)
    func `a change is encoded as the table says, and decoded to itself`(item: Case) throws {
        let written = LedgerCodec.encode(item.change)
        #expect(written.key == item.key)
        #expect(written.value == item.value)
        #expect(try LedgerCodec.decode(key: item.key, value: item.value) == item.change)
    }

    @Test func `a tombstone of an entry that never expires resets it`() throws {
        #expect(try LedgerCodec.decode(key: [4], value: nil) == .markForgotten)
        let none = RateCount(start: EvaluationTime(milliseconds: 0), count: 0)
        #expect(try LedgerCodec.decode(key: [5, 0x61], value: nil) == .rate(app: "a", none))
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `random key records survive a round trip`(seed: UInt64) throws {
        var samples = RecordSamples(seed: seed)
        for _ in 0..<25 {
            var record = samples.record()
            // As many bytes as a key's would be read as one.
            if record.unusableKey.count == 64 { record.unusableKey = [] }
            let change = LedgerChange.key(KeyID(samples.digest()), record)
            let (key, value) = LedgerCodec.encode(change)
            #expect(try LedgerCodec.decode(key: key, value: value) == change)
        }
    }
}

/// Records that cannot be read are refused with a reason: judging without them would forget what they hold.
@Suite("Ledger records that cannot be read")
struct LedgerCodecRefusalTests {
    private static let (key, value) = LedgerCodec.encode(
        .key(KeyID(SHA256.hash([1])), LedgerCodecTests.full)
    )

    private static func reason(_ key: [UInt8], _ value: [UInt8]?) -> String? {
        do throws(LedgerCodec.Fault) {
            _ = try LedgerCodec.decode(key: key, value: value)
            return nil
        } catch { return error.reason }
    }

    private static let digestKey: [UInt8] = [2] + [UInt8](repeating: 7, count: 32)
    private static let hash: [UInt8] = [0x58, 0x20] + [UInt8](repeating: 7, count: 32)
    private static let banKey: [UInt8] = [7] + [UInt8](repeating: 7, count: 32)
    /// A number of 33 bits, and the eight bytes of one that is beyond all times.
    private static let wide: [UInt8] = [0x1B, 0, 0, 0, 1, 0, 0, 0, 0]
    private static let far: [UInt8] = [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]

    static let cases: [(String, [UInt8], [UInt8]?, String)] = [
        ("no key", [], value, "its key is of an unknown type"), ("type 0", [0], value, "its key is of an unknown type"),
        ("a newer type", [8], value, "its key is of an unknown type"),
        ("a newer type's tombstone", [8], nil, "its key is of an unknown type"),
        ("a short key id", key.dropLast(), value, "the key has a wrong length"),
        ("a long key id", key + [0], value, "the key has a wrong length"),
        ("a short key id's tombstone", [1], nil, "the key has a wrong length"),
        ("a long key id's tombstone", key + [0], nil, "the key has a wrong length"),
        ("a short ban's tombstone", banKey.dropLast(), nil, "the key has a wrong length"),
        ("a short sealing key id", [6, 1, 2, 3], [0xA2, 0, 1, 1, 0], "the key has a wrong length"),
        ("an app that is no UTF-8", [5, 0xFF], [0xA3, 0, 1, 1, 1, 2, 2], "the key has a wrong length"),
        ("an empty value", key, [], "the value is not strict CBOR (truncated)"),
        ("a list", [4], [0x80], "the value is not a map"),
        ("a text as a map's key", [4], [0xA1, 0x60, 1], "a key is not a number"),
        ("no version", [4], [0xA1, 1, 1], "it has no schema version"),
        ("a newer version", [4], [0xA1, 0, 2], "it has schema version 2, written by a newer attest-worker"),
        ("version 0", [4], [0xA1, 0, 0], "it has schema version 0, written by a newer attest-worker"),
        ("a field is missing", digestKey, [0xA2, 0, 1, 1, 1], "field 2 does not have 32 bytes"),
        ("a time is missing", digestKey, [0xA2, 0, 1, 2] + hash, "field 1 is missing"),
        ("a time is a text", [4], [0xA2, 0, 1, 1, 0x60], "field 1 is not a number"),
        ("a time beyond 63 bits", [4], [0xA2, 0, 1, 1, 0x1B, 0x80, 0, 0, 0, 0, 0, 0, 0], "field 1 is not a number"),
        ("a time after 9999", digestKey, [0xA3, 0, 1, 1, 0x1B] + far + [2] + hash, "field 1 is not a time"),
        ("a time long before 1970", [4], [0xA2, 0, 1, 1, 0x3B] + far, "field 1 is not a time"),
        ("an offset below 0", [4], [0xA2, 0, 1, 2, 0x20], "field 2 is not an offset"),
        ("the lowest offset of all", [4], [0xA2, 0, 1, 2, 0x3B] + far, "field 2 is not an offset"),
        ("bytes for partitions", [4], [0xA2, 0, 1, 8, 0x41, 1], "field 8 is not a number"),
        ("a text for partitions", [4], [0xA2, 0, 1, 8, 0x61, 0x33], "field 8 is not a number"),
        ("too many partitions", [4], [0xA2, 0, 1, 8, 0x1A, 0x80, 0, 0, 0], "field 8 is not a number of partitions"),
        ("too few partitions", [4], [0xA2, 0, 1, 8, 0x3A, 0x80, 0, 0, 0], "field 8 is not a number of partitions"),
    ]

    /// Bans that are not whole, and whole key records with a field that does not fit.
    static let fields: [(String, [UInt8], [UInt8]?, String)] = [
        ("version 2", banKey, [0xA3, 0, 2, 1, 0, 2, 1], "it has schema version 2, written by a newer attest-worker"),
        ("a ban of kind 3", banKey, [0xA3, 0, 1, 1, 0, 2, 3], "field 2 is not a kind of ban"),
        ("a ban of kind 0", banKey, [0xA3, 0, 1, 1, 0, 2, 0], "field 2 is not a kind of ban"),
        ("a ban of kind 257", banKey, [0xA3, 0, 1, 1, 0, 2, 0x19, 1, 1], "field 2 is not a kind of ban"),
        ("a ban of no kind", banKey, [0xA2, 0, 1, 1, 0], "field 2 is missing"),
        ("a ban without its time", banKey, [0xA2, 0, 1, 2, 1], "field 1 is missing"),
        ("a ban after 9999", banKey, [0xA3, 0, 1, 1, 0x1B] + far + [2, 1], "field 1 is not a time"),
        ("a ban until a text", banKey, [0xA4, 0, 1, 1, 0, 2, 1, 3, 0x60], "field 3 is not a number"),
        ("a ban until after 9999", banKey, [0xA4, 0, 1, 1, 0, 2, 1, 3, 0x1B] + far, "field 3 is not a time"),
        ("a ban by offset -1", banKey, [0xA4, 0, 1, 1, 0, 2, 1, 4, 0x20], "field 4 is not an offset"),
        ("a ban by bytes", banKey, [0xA4, 0, 1, 1, 0, 2, 1, 4, 0x41, 1], "field 4 is not a number"),
        ("a wide counter", key, replaced([2, 0x19, 1, 0x2C], by: [2] + wide), "a counter has at most 32 bits"),
        ("an environment that is none", key, replaced([5, 1, 6], by: [5, 2, 6]), "field 5 is not an environment"),
        ("a category beyond 32 bits", key, replaced([6, 4, 7], by: [6] + wide + [7]), "field 6 is not a category"),
        ("a request of five parts", key, replaced([9, 0x84], by: [9, 0x85]) + [1], "field 9 is not a request"),
    ]

    /// A field of a whole key record, replaced.
    private static func replaced(_ field: [UInt8], by other: [UInt8]) -> [UInt8] {
        var changed = value ?? []
        guard let place = changed.firstRange(of: field) else { preconditionFailure("the record has the field") }
        changed.replaceSubrange(place, with: other)
        return changed
    }

    @Test(arguments: cases + fields)
    func `an unreadable record is refused with its reason`(
        name: String,
        key: [UInt8],
        value: [UInt8]?,
        reason: String
    ) {
        #expect(Self.reason(key, value) == reason, "\(name)")
    }

    @Test func `every truncation of a key record is refused, and so is a byte more`() {
        let value = Self.value ?? []
        for count in 0..<value.count { #expect(Self.reason(Self.key, Array(value.prefix(count))) != nil) }
        #expect(Self.reason(Self.key, value + [0]) != nil)
        #expect(Self.reason(Self.key, value) == nil)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `no flipped bit and no random bytes trap`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<300 {
            var (key, value) = (Self.key, Self.value ?? [])
            let place = Int(random.next() % UInt64(value.count))
            value[place] ^= 1 << UInt8(random.next() % 8)
            key[0] = UInt8(random.next() % 8)
            _ = Self.reason(Self.key, value)
            _ = Self.reason(key, value)
            _ = Self.reason(key, random.bytes(Int(random.next() % 80)))
        }
    }
}
