import AppAttest
import Crypto
import DeviceLab
import Streams
import TestKit
import Testing

@testable import Pipeline

@Suite("Key ledger")
struct KeyLedgerTests {
    /// Of two in three keys the point's own.
    private static func key(_ number: UInt64) -> KeyID {
        if number % 3 != 0, let point = record(number).publicKey { return KeyID(of: point) }
        var random = SeededRandom(seed: number)
        return KeyID(SHA256.hash(random.bytes(32)))
    }

    private static func record(_ number: UInt64, id: String? = nil) -> KeyRecord {
        var random = SeededRandom(seed: number)
        let digest = { (random: inout SeededRandom) in SHA256.hash(random.bytes(32)) }
        return KeyRecord(
            publicKey: number % 7 == 0
                ? nil : P256PublicKey(uncheckedX: digest(&random), y: digest(&random)),
            counter: UInt32(truncatingIfNeeded: random.next()),
            app: number % 5 == 0 ? nil : "projects/\(number % 3)/apps/1:2:ios:3",
            appleAppID: "TEAM.app\(number % 4)",
            environment: number % 2 == 0 ? .production : .development,
            validationCategory: number % 3 == 0 ? 4 : nil,
            registeredAt: EvaluationTime(milliseconds: Int64(number) * 1_000_003),
            nonce: number % 4 == 0 ? nil : digest(&random),
            issued: number % 8 == 1
                ? nil
                : IssueTime(
                    notBefore: EvaluationTime(milliseconds: Int64(number) * 1000 - 200_000),
                    serial: Int64(truncatingIfNeeded: random.next() >> (number % 5 == 0 ? 1 : 17))
                ),
            lastRequest: id.map { LastRequest(id: ExactText($0), valueDigest: digest(&random)) },
            risk: number % 9 == 0 ? nil : RiskMetric(UInt16(truncatingIfNeeded: number), createdAt: UInt32(number + 1))
        )
    }

    @Test func `a stored record is returned unchanged, whatever fields it has`() {
        var ledger = KeyLedger()
        for number in 0..<5000 as Range<UInt64> {
            ledger.set(Self.key(number), Self.record(number, id: number % 6 == 0 ? nil : "request-\(number)"))
        }
        #expect(ledger.count == 5000)
        for number in 0..<5000 as Range<UInt64> {
            let expected = Self.record(number, id: number % 6 == 0 ? nil : "request-\(number)")
            #expect(ledger[Self.key(number)] == expected)
        }
        #expect(ledger[Self.key(5000)] == nil)
        #expect(ledger.found(Self.key(5000)) == .unknown)
        #expect(ledger.found(Self.key(7)) == .unusable)
    }

    @Test(arguments: [nil, 4, 5] as [UInt32?], Environment.allCases)
    func `a record that is read, changed and stored again keeps each change`(
        category: UInt32?,
        environment: Environment
    ) throws {
        var ledger = KeyLedger()
        ledger.set(Self.key(1), Self.record(1))
        for app in ["projects/1/apps/1:2:ios:3", "projects/1/apps/1:2:ios:4"] {
            var record = try #require(ledger[Self.key(1)])
            (record.validationCategory, record.environment) = (category, environment)
            record.bind(to: app)
            ledger.set(Self.key(1), record)
            #expect(ledger[Self.key(1)] == record && record.app == app)
        }
    }

    @Test func `of two records of a key that are read, what either has used stays used, and the higher counter stays`()
    {
        func record(_ highest: UInt32, _ skipped: [UInt32]) -> KeyRecord {
            var record = Self.record(1)
            record.counters = KeyCounters(highest: highest, skipped: skipped) ?? record.counters
            return record
        }
        func read(_ records: KeyRecord...) -> KeyCounters? {
            var ledger = KeyLedger()
            for record in records { ledger.set(Self.key(1), record, mayBeLate: true) }
            return ledger[Self.key(1)]?.counters
        }
        let newer = record(20, [18, 13])
        #expect(read(record(17, [13, 12]), newer) == newer.counters)
        #expect(read(newer, record(17, [13, 12])) == newer.counters, "an older record that arrives late")
        #expect(read(newer, record(20, [19, 18, 13])) == newer.counters, "the same, from before 19 was used")
        #expect(read(newer, record(19, [18])) == KeyCounters(highest: 20, skipped: [18]), "13 was used elsewhere")
        #expect(read(newer, record(20, [])) == KeyCounters(highest: 20), "a version without windows wrote it")
        var imported = record(20, [])
        imported.unseen = KeyCounters.allUnseen
        var followed = record(30, [])
        followed.unseen = 8
        #expect(read(imported, followed)?.unseen == 8 && read(followed, imported)?.unseen == 8)
        for order in [[imported, newer], [newer, imported]] {
            #expect(read(order[0], order[1])?.unseen == KeyCounters.allUnseen, "what either has not seen")
        }
        var ledger = KeyLedger()
        ledger.set(Self.key(1), newer)
        ledger.set(Self.key(1), record(20, [19]))
        #expect(ledger[Self.key(1)]?.counters == KeyCounters(highest: 20, skipped: [19]), "written, not read")
        ledger.remove(Self.key(1))
        ledger.set(Self.key(1), record(21, []), mayBeLate: true)
        #expect(ledger[Self.key(1)]?.skipped == 0, "nothing of a forgotten key is left")
    }

    private static func stored(_ record: KeyRecord) -> StoredRecord {
        let (key, value) = LedgerCodec.encode(.key(key(1), record))
        return StoredRecord(partition: 0, key: key, value: value)
    }

    @Test func `of records that are read in order the last one counts, and of others the one with the higher counter`()
    {
        var (first, again) = (Self.record(1), Self.record(2))
        first.counters = KeyCounters(highest: 9, skipped: [5]) ?? first.counters
        again.counters = KeyCounters(highest: 3, unseen: 7)
        for inOrder in [true, false] {
            var (ledger, plain) = (PartitionLedger(), PartitionLedger())
            (ledger.readsInOrder, plain.readsInOrder) = (inOrder, inOrder)
            // It was forgotten and attested again, and compaction has taken the tombstone.
            for record in [first, again] {
                ledger.apply(.key(Self.key(1), record))
                let stored = StoredRecords([Self.stored(record)])
                for place in stored.places { try? plain.apply(place, stored.bytes.span) }
            }
            for ledger in [ledger, plain] { #expect(ledger.keys[Self.key(1)] == (inOrder ? again : first)) }
        }
    }

    @Test func `an ID that shares bytes with a key's own does not find it`() {
        let (record, ledger) = (Self.record(1), KeyLedger())
        let key = Self.key(1)
        for place in 0..<32 {
            var (bytes, ledger) = (key.bytes, ledger)
            ledger.set(key, record)
            bytes[place] ^= 1
            guard let other = KeyID(bytes.span) else { continue }
            #expect(ledger[other] == nil && ledger.found(other) == .unknown, "byte \(place)")
            ledger.remove(other)
            #expect(ledger[key] == record)
        }
    }

    @Test(arguments: [0, 1, 7, 8, 38, 39, 40, 41, 128])
    func `request ids of every length up to the limit survive`(length: Int) {
        var ledger = KeyLedger()
        let id = String(repeating: "é", count: length / 2) + String(repeating: "x", count: length % 2)
        ledger.set(Self.key(1), Self.record(1, id: id))
        #expect(ledger[Self.key(1)]?.lastRequest?.id.shown == id)
        // Shorter again: nothing of the longer one is left.
        ledger.set(Self.key(1), Self.record(1, id: "a"))
        #expect(ledger[Self.key(1)]?.lastRequest?.id == "a")
        #expect(ledger.count == 1)
    }

    @Test func `a key is overwritten in place and counted once`() {
        var ledger = KeyLedger()
        for round in 0..<3 as Range<UInt64> {
            for number in 0..<100 as Range<UInt64> { ledger.set(Self.key(number), Self.record(number + round)) }
        }
        #expect(ledger.count == 100)
        var seen = 0
        ledger.forEach { key, record in
            seen += 1
            #expect(ledger[key] == record)
        }
        #expect(seen == 100)
    }
}

@Suite("Time in results")
struct TimestampTests {
    @Test(arguments: [0, 1, 951_782_400_000, 1_790_000_000_120, 253_402_300_799_999, 4_107_542_400_000, -1] as [Int64])
    func `times are RFC 3339, as in reports`(milliseconds: Int64) {
        let time = EvaluationTime(milliseconds: milliseconds)
        #expect(String(decoding: time.rfc3339, as: UTF8.self) == ReportValue.time(time).description)
    }
}

@Suite("Many names")
struct ManyNamesTests {
    @Test func `a ledger whose keys name more apps than sixteen bits count keeps them all`() {
        var ledger = KeyLedger()
        for number in 0..<70_000 as Range<UInt64> {
            var random = SeededRandom(seed: number)
            var record = KeyRecord.sample(app: "app \(number)")
            record.appleAppID = "T.\(number)"
            ledger.set(KeyID(SHA256.hash(random.bytes(8))), record)
        }
        var random = SeededRandom(seed: 69_999)
        #expect(ledger[KeyID(SHA256.hash(random.bytes(8)))]?.app == "app 69999")
    }
}

extension KeyLedger {
    /// ``lookup(_:)`` for expectations, which do not take what is mutating.
    func found(_ key: KeyID) -> Lookup {
        var copy = self
        return copy.lookup(key)
    }
}
