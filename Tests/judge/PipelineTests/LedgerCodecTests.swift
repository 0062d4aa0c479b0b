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
    private static func bytes(_ byte: UInt8, _ count: Int = 32) -> [UInt8] { [UInt8](repeating: byte, count: count) }

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

    private static let issuedValue: [UInt8] =
        [0xAB] + fullValue.dropFirst()
        + [0x0A, 0x82, 0x1B, 0x00, 0x00, 0x01, 0xA0, 0xC4, 0x50, 0x6C, 0x00, 0x1A, 0x00, 0x01, 0x11, 0x70]

    /// With an eleventh field, which the versions before ignore.
    private static var rated: KeyRecord {
        var record = issued
        record.risk = RiskMetric(300, createdAt: 1_790_000_000)
        return record
    }

    private static let ratedValue: [UInt8] =
        [0xAC] + issuedValue.dropFirst() + [0x0B, 0x82, 0x19, 0x01, 0x2C, 0x1A, 0x6A, 0xB1, 0x3B, 0x80]

    /// With a twelfth: of the counters below 300, 299 and 297 may still be used.
    private static var skipped: KeyRecord {
        var record = issued
        record.counters = KeyCounters(highest: 300, skipped: 0b101)
        return record
    }

    private static let skippedValue: [UInt8] = [0xAC] + issuedValue.dropFirst() + [0x0C, 0x05]

    private static let id = KeyID(digest(1))
    private static let consumed = ConsumedID(expiresAt: time(1_000), request: digest(0xB2))
    private static let consumedValue: [UInt8] =
        [0xA3, 0x00, 0x01, 0x01, 0x19, 0x03, 0xE8, 0x02, 0x58, 0x20] + bytes(0xB2)

    static let cases: [Case] = [
        Case("a key", .key(id, full), [1] + bytes(1), fullValue),
        Case("a key whose last attestation's issue is known", .key(id, issued), [1] + bytes(1), issuedValue),
        Case("a key with a risk metric", .key(id, rated), [1] + bytes(1), ratedValue),
        Case("a key that has skipped counters", .key(id, skipped), [1] + bytes(1), skippedValue),
        Case(
            "a key of which little is known",
            .key(id, bare),
            [1] + bytes(1),
            [0xA6, 0, 1, 1, 0x42, 9, 9, 2, 0, 4, 0x60, 5, 0, 7, 0x20]
        ),
        Case("a forgotten key", .keyForgotten(id), [1] + bytes(1), nil),
        Case("a challenge", .challenge(digest(2), consumed), [2] + bytes(2), consumedValue),
        Case("a forgotten challenge", .challengeForgotten(digest(2)), [2] + bytes(2), nil),
        Case("a token", .token(digest(3), consumed), [3] + bytes(3), consumedValue),
        Case("a forgotten token", .tokenForgotten(digest(3)), [3] + bytes(3), nil),
        Case("a stream time", .mark(PartitionMark(streamTime: time(500))), [4], [0xA2, 0, 1, 1, 0x19, 0x01, 0xF4]),
        Case(
            "a stream time and what was applied",
            .mark(PartitionMark(streamTime: time(23), appliedOffset: 24)),
            [4],
            [0xA3, 0, 1, 1, 0x17, 2, 0x18, 0x18]
        ),
        Case("what was applied", .mark(PartitionMark(appliedOffset: 0)), [4], [0xA2, 0, 1, 2, 0]),
        Case("no stream time", .mark(PartitionMark()), [4], [0xA1, 0, 1]),
        Case(
            "all of a mark",
            .mark(
                PartitionMark(
                    streamTime: time(1),
                    appliedOffset: 2,
                    group: [0xFF, 0x61],
                    delivery: .atLeastOnceUncommitted,
                    writer: [0x62, 0xFE],
                    partitions: 24,
                    move: [0x63, 0xFD]
                )
            ),
            [4],
            [
                0xA8, 0, 1, 1, 1, 2, 2, 3, 0x42, 0xFF, 0x61, 4, 2, 7, 0x42, 0x62, 0xFE, 8, 0x18, 0x18, 9, 0x42, 0x63,
                0xFD,
            ]
        ),
        Case(
            "a transaction's mark of an empty group",
            .mark(PartitionMark(appliedOffset: 0, group: [], delivery: .transaction)),
            [4],
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
        Case(
            "a key's ban with its end and its record",
            .ban(digest(7), Ban(.key, since: time(1_000), until: time(70_000), offset: 24)),
            [7] + bytes(7),
            [0xA5, 0, 1, 1, 0x19, 0x03, 0xE8, 2, 1, 3, 0x1A, 0x00, 0x01, 0x11, 0x70, 4, 0x18, 0x18]
        ),
        Case(
            "a banned key",
            .ban(digest(7), Ban(.key, since: time(1_000))),
            [7] + bytes(7),
            [0xA3, 0, 1, 1, 0x19, 0x03, 0xE8, 2, 1]
        ),
        Case(
            "a banned installation",
            .ban(digest(7), Ban(.installation, since: time(0))),
            [7] + bytes(7),
            [0xA3, 0, 1, 1, 0, 2, 2]
        ),
        Case("a ban that was lifted", .banLifted(digest(7)), [7] + bytes(7), nil),
    ]

    @Test(
        arguments: [
            ([0xA3, 0, 2, 1, 0, 2, 1], "it has schema version 2, written by a newer attest-worker"),
            ([0xA3, 0, 1, 1, 0, 2, 3], "field 2 is not a kind of ban"),
            ([0xA3, 0, 1, 1, 0, 2, 0], "field 2 is not a kind of ban"),
            ([0xA3, 0, 1, 1, 0, 2, 0x19, 1, 1], "field 2 is not a kind of ban"),
            ([0xA2, 0, 1, 1, 0], "field 2 is missing"), ([0xA2, 0, 1, 2, 1], "field 1 is missing"),
            ([0xA3, 0, 1, 1, 0x1B, 0x7F, 0, 0, 0, 0, 0, 0, 0, 2, 1], "field 1 is not a time"),
            ([0xA4, 0, 1, 1, 0, 2, 1, 3, 0x60], "field 3 is not a number"),
            ([0xA4, 0, 1, 1, 0, 2, 1, 3, 0x1B, 0x7F, 0, 0, 0, 0, 0, 0, 0], "field 3 is not a time"),
            ([0xA4, 0, 1, 1, 0, 2, 1, 4, 0x20], "field 4 is not an offset"),
            ([0xA4, 0, 1, 1, 0, 2, 1, 4, 0x41, 1], "field 4 is not a number"),
        ] as [([UInt8], String)]
    )
    func `a ban that is not whole is refused, never misread`(value: [UInt8], reason: String) throws {
        let fault = #expect(throws: LedgerCodec.Fault.self) {
            try LedgerCodec.decode(key: [7] + Self.bytes(7), value: value)
        }
        #expect(fault?.reason == reason)
        #expect(throws: LedgerCodec.Fault.self) { try LedgerCodec.decode(key: [7] + Self.bytes(7, 31), value: nil) }
    }

    /// As versions before `--until` read a ban with an end: the fields that they know are the same, and what they do not
    /// know they ignore, so that they keep the ban.
    @Test func `a ban with fields that a reader does not know is a ban`() throws {
        let value: [UInt8] = [0xA4, 0, 1, 1, 0x19, 0x03, 0xE8, 2, 1, 5, 0x43, 1, 2, 3]
        let read = try LedgerCodec.decode(key: [7] + Self.bytes(7), value: value)
        #expect(read == .ban(Self.digest(7), Ban(.key, since: EvaluationTime(milliseconds: 1_000))))
    }

    private static let metrics: [[UInt8]] = [
        [0x0B, 0x82, 0x1A, 0, 1, 0, 0, 1], [0x0B, 0x82, 1, 0], [0x0B, 0x82, 1, 0x1B, 0, 0, 0, 1, 0, 0, 0, 0],
        [0x0B, 0x81, 1], [0x0B, 0x83, 1, 1, 1], [0x0B, 1], [0x0B, 0x82, 0x20, 1], [0x0B, 0x82, 1, 0x20],
        [0x0B, 0x82, 0x61, 0x31, 1],
    ]
    private static let numbers: [[UInt8]] = [
        [0x0C, 0x20], [0x0C, 0x40], [0x0C, 0x81, 1], [0x0C, 0xF6], [0x0E, 0x20], [0x0E, 0x40], [0x0E, 0xF6],
    ]
    private static let unfit: [([UInt8], String)] =
        metrics.map { ($0, "field 11 is not a risk metric") } + numbers.map { ($0, "field \($0[0]) is not a number") }

    @Test(arguments: unfit)
    func `a field beyond its bounds is refused, by the fast decoder too`(field: [UInt8], reason: String) {
        let value = [0xAC] + Self.issuedValue.dropFirst() + field
        let fault = #expect(throws: LedgerCodec.Fault.self) {
            try LedgerCodec.decode(key: [1] + Self.bytes(1), value: value)
        }
        #expect(fault?.reason == reason)
        #expect(PlainKeyRecord(value.span, in: 0..<value.count) == nil)
    }

    /// Another number of parts, a negative serial number, a time beyond the calendar.
    @Test(
        arguments: [
            [0x81, 1], [0x83, 1, 1, 1], [0x82, 1, 0x20], [0x82, 0x1B, 0x7F, 0, 0, 0, 0, 0, 0, 0, 1],
        ] as [[UInt8]]
    )
    func `a time of issue that is not whole is refused, by the fast decoder too`(item: [UInt8]) {
        let value = [0xAB] + Self.fullValue.dropFirst() + [0x0A] + item
        let fault = #expect(throws: LedgerCodec.Fault.self) {
            try LedgerCodec.decode(key: [1] + Self.bytes(1), value: value)
        }
        #expect(fault?.reason == "field 10 is not a time of issue")
        #expect(PlainKeyRecord(value.span, in: 0..<value.count) == nil)
    }

    @Test func `a request of five parts, and a key of 33 bytes, are refused`() {
        let bare: [UInt8] = [0xA7, 0, 1, 1, 0x42, 9, 9, 2, 0, 4, 0x60, 5, 0, 7, 0x20]
        let value = bare + [9, 0x85, 0x61, 0x72, 0x58, 0x20] + Self.bytes(3) + [1, 1, 1]
        let fault = #expect(throws: LedgerCodec.Fault.self) {
            try LedgerCodec.decode(key: [1] + Self.bytes(1), value: value)
        }
        #expect(fault?.reason == "field 9 is not a request")
        #expect(throws: LedgerCodec.Fault.self) { try LedgerCodec.decode(key: [1] + Self.bytes(1, 33), value: nil) }
    }

    @Test func `the fast decoder reads risk metrics and skipped counters`() {
        #expect(PlainKeyRecord(Self.ratedValue.span, in: 0..<Self.ratedValue.count)?.risk == Self.rated.risk)
        #expect(PlainKeyRecord(Self.skippedValue.span, in: 0..<Self.skippedValue.count)?.skipped == 5)
    }

    /// The counter is 300; bits for counters of 0 and below cannot be used.
    @Test func `bits of counters that do not exist are dropped`() throws {
        var low = Self.skipped
        (low.counter, low.skipped) = (2, .max)
        let (key, value) = LedgerCodec.encode(.key(KeyID(Self.digest(1)), low))
        let bytes = try #require(value)
        #expect(PlainKeyRecord(bytes.span, in: bytes.indices) == nil)
        guard case .key(_, let record) = try LedgerCodec.decode(key: key, value: bytes) else {
            Issue.record("a key's record")
            return
        }
        #expect(record.counters == KeyCounters(highest: 2, skipped: 1))
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

    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let key: [UInt8]
        let value: [UInt8]?
        let reason: String
        var testDescription: String { name }

        init(_ name: String, _ key: [UInt8], _ value: [UInt8]?, _ reason: String) {
            (self.name, self.key, self.value, self.reason) = (name, key, value, reason)
        }
    }

    private static let digestKey: [UInt8] = [2] + [UInt8](repeating: 7, count: 32)
    private static let hash: [UInt8] = [0x58, 0x20] + [UInt8](repeating: 7, count: 32)

    static let cases: [Case] = [
        Case("no key", [], value, "its key is of an unknown type"),
        Case("type 0", [0], value, "its key is of an unknown type"),
        Case("a newer type", [8], value, "its key is of an unknown type"),
        Case("a newer type's tombstone", [8], nil, "its key is of an unknown type"),
        Case("a short key id", key.dropLast(), value, "the key has a wrong length"),
        Case("a long key id", key + [0], value, "the key has a wrong length"),
        Case("a short key id's tombstone", [1], nil, "the key has a wrong length"),
        Case("a short sealing key id", [6, 1, 2, 3], [0xA2, 0, 1, 1, 0], "the key has a wrong length"),
        Case("an app that is no UTF-8", [5, 0xFF], [0xA3, 0, 1, 1, 1, 2, 2], "the key has a wrong length"),
        Case("an empty value", key, [], "the value is not strict CBOR (truncated)"),
        Case("a list", [4], [0x80], "the value is not a map"),
        Case("a text as a map's key", [4], [0xA1, 0x60, 1], "a key is not a number"),
        Case("no version", [4], [0xA1, 1, 1], "it has no schema version"),
        Case("a newer version", [4], [0xA1, 0, 2], "it has schema version 2, written by a newer attest-worker"),
        Case("version 0", [4], [0xA1, 0, 0], "it has schema version 0, written by a newer attest-worker"),
        Case("a field is missing", digestKey, [0xA2, 0, 1, 1, 1], "field 2 does not have 32 bytes"),
        Case("a time is missing", digestKey, [0xA2, 0, 1, 2] + hash, "field 1 is missing"),
        Case("a time is a text", [4], [0xA2, 0, 1, 1, 0x60], "field 1 is not a number"),
        Case(
            "a time beyond 63 bits",
            [4],
            [0xA2, 0, 1, 1, 0x1B, 0x80, 0, 0, 0, 0, 0, 0, 0],
            "field 1 is not a number"
        ),
    ]

    /// A field of a whole key record, replaced.
    private static func replaced(_ field: [UInt8], by other: [UInt8]) -> [UInt8] {
        var changed = value ?? []
        guard let place = changed.firstRange(of: field) else { preconditionFailure("the record has the field") }
        changed.replaceSubrange(place, with: other)
        return changed
    }

    static let fields: [Case] = [
        Case(
            "an environment that is none",
            key,
            replaced([0x05, 0x01, 0x06], by: [0x05, 0x02, 0x06]),
            "field 5 is not an environment"
        ),
        Case(
            "a category beyond 32 bits",
            key,
            replaced([0x06, 0x04, 0x07], by: [0x06, 0x1B, 0, 0, 0, 1, 0, 0, 0, 0, 0x07]),
            "field 6 is not a category"
        ),
        Case(
            "a time after 9999",
            digestKey,
            [0xA3, 0, 1, 1, 0x1B, 0x7F] + [UInt8](repeating: 0xFF, count: 7) + [2] + hash,
            "field 1 is not a time"
        ),
        Case("an offset below 0", [4], [0xA2, 0, 1, 2, 0x20], "field 2 is not an offset"),
        Case(
            "the lowest offset of all",
            [4],
            [0xA2, 0, 1, 2, 0x3B, 0x7F] + [UInt8](repeating: 0xFF, count: 7),
            "field 2 is not an offset"
        ),
        Case(
            "a time long before 1970",
            [4],
            [0xA2, 0, 1, 1, 0x3B, 0x7F] + [UInt8](repeating: 0xFF, count: 7),
            "field 1 is not a time"
        ),
    ]

    @Test(arguments: cases + fields)
    func `an unreadable record is refused with its reason`(item: Case) {
        #expect(Self.reason(item.key, item.value) == item.reason)
    }

    @Test func `every truncation of a key record is refused, and so is a byte more`() {
        let value = Self.value ?? []
        for count in 0..<value.count { #expect(Self.reason(Self.key, Array(value.prefix(count))) != nil) }
        #expect(Self.reason(Self.key, value + [0]) != nil)
        #expect(Self.reason(Self.key, value) == nil)
    }

    @Test func `a counter has 32 bits`() {
        let counter: [UInt8] = [0x02, 0x19, 0x01, 0x2C]
        let wide = Self.replaced(counter, by: [0x02, 0x1B, 0, 0, 0, 1, 0, 0, 0, 0])
        #expect(Self.reason(Self.key, wide) == "a counter has at most 32 bits")
        #expect(Self.reason(Self.key, Self.replaced(counter, by: [0x02, 0x1A, 0xFF, 0xFF, 0xFF, 0xFF])) == nil)
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
