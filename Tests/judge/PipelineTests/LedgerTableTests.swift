import AppAttest
import Crypto
import DeviceLab
import JSON
import Testing

@testable import Pipeline

/// The table of a ledger against a dictionary, and its parts.
@Suite("A ledger's table")
struct LedgerTableTests {
    private static func key(of record: KeyRecord, _ samples: inout RecordSamples) -> KeyID {
        samples.keyID(of: record)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `keys that come, change, go and come back are what a dictionary has`(seed: UInt64) {
        var (samples, random) = (RecordSamples(seed: seed), SeededRandom(seed: ~seed))
        var (ledger, expected) = (KeyLedger(), [KeyID: KeyRecord]())
        var known: [(KeyID, KeyRecord)] = []
        for _ in 0..<12_000 {
            let isOld = !known.isEmpty && random.next() % 3 != 0
            var record = samples.record()
            record.unusableKey = []
            if let (_, old) = isOld ? known.randomElement(using: &random) : nil, random.next() % 4 != 0 {
                record.publicKey = old.publicKey
            }
            let key = isOld ? known[Int(random.next() % UInt64(known.count))].0 : samples.keyID(of: record)
            if !isOld { known.append((key, record)) }
            if random.next() % 3 == 0 {
                ledger.remove(key)
                expected[key] = nil
            } else {
                ledger.set(key, record)
                expected[key] = record
            }
        }
        #expect(ledger.count == expected.count && ledger.oddCount > 100 && ledger.oddCount < ledger.count)
        for (key, _) in known {
            #expect(ledger[key] == expected[key])
            let isThere = ledger.lookup(key) != .unknown
            #expect(isThere == (expected[key] != nil))
        }
        var seen: [KeyID: KeyRecord] = [:]
        ledger.forEach { key, record in seen[key] = record }
        #expect(seen == expected)
    }

    @Test func `a slot that is free is used again, and nothing of the key before is left`() {
        var (samples, ledger) = (RecordSamples(seed: 5), KeyLedger())
        for round in 0..<3_000 {
            let record = samples.record()
            let key = Self.key(of: record, &samples)
            ledger.set(key, record)
            if round >= 10 { #expect(ledger.find(key).map { $0 <= 10 } ?? false) }
            if round < 10 { continue }
            ledger.remove(key)
            #expect(ledger[key] == nil && ledger.count == 10 && ledger.table.index.used.reduce(0, +) == 10)
        }
    }

    @Test func `an entry has 200 bytes`() { #expect(MemoryLayout<LedgerEntry>.stride == 200) }

    @Test(
        arguments: [
            ("", .text), ("a", .text), ("twenty-three-bytes-text", .text), ("éééééé", .text),
            ("0f8fad5b-d9cb-469f-a165-708673504112", .uuid), ("ffffffff-ffff-ffff-ffff-ffffffffffff", .uuid),
            ("0F8FAD5B-D9CB-469F-A165-708673504112", .upperUUID), ("00000000-0000-0000-0000-000000000000", .uuid),
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345", .base64), ("--__abcdefghijklmnopqrstuvwxyz67", .base64),
            ("appattest.requests/7/1234567890123", .place), ("appattest.requests/0/0-and/10/9223", .place),
            // Digits of both cases, a letter too high, text that no form has, numbers that are not the shortest.
            ("0F8FAD5B-d9cb-469f-a165-708673504112", nil), ("0f8fad5b-d9cb-469f-a165-70867350411g", nil),
            ("0f8fad5bxd9cb-469f-a165-708673504112", nil), ("twenty-four-bytes-of.text", nil),
            ("appattest.requests/07/1234567890123", nil), ("appattest.requests/number-7/", nil),
            ("appattest.requests/7/12345678901234567890", nil), ("/////////////////////////////", nil),
        ] as [(String, PackedID.Form?)]
    )
    func `an id of a usual form is packed without loss, and no other is`(id: String, form: PackedID.Form?) {
        var topics = Interner(mostTexts: 9)
        let utf8 = Array(id.utf8)
        let packed = PackedID(utf8.span, &topics)
        #expect(packed?.form == form)
        if let packed { #expect(packed.bytes(topics) == utf8) }
    }

    @Test func `the ID of any request survives, and no ID makes a record odd`() {
        var (ledger, random) = (KeyLedger(), SeededRandom(seed: 9))
        var record = LedgerCodecTests.full
        let key = record.publicKey.map { KeyID(of: $0) } ?? KeyID(SHA256.hash([]))
        for number in 0..<3_000 {
            let id = number % 2 == 0 ? "topic-\(number)/3/77777777777777" : "01ARZ3NDEKTSV4RRFFQ69G5FAV"
            record.lastRequest?.id = ExactText(number % 2 == 0 ? id : "\(id)-\(random.next())")
            let value = LedgerCodec.encode(.key(key, record)).value ?? []
            record.counter += 1
            ledger.set(key, record)
            #expect(ledger[key] == record && ledger.oddCount == 0)
            var restored = KeyLedger()
            let isPlain = restored.setPlain(key, value.span, in: value.indices)
            #expect(isPlain && restored[key]?.lastRequest == record.lastRequest)
        }
    }

    @Test func `ids of all forms survive beside each other`() {
        var (random, topics) = (SeededRandom(seed: 3), Interner(mostTexts: 9))
        for number in 0..<2_000 {
            let bytes = random.bytes(24)
            let id =
                switch number % 3 {
                case 0: Base64.encodeURL(bytes)
                case 1: Array("topic.\(bytes[0] % 5).requests/\(bytes[1])/\(random.next() >> 20)".utf8)
                default: Array(Hexadecimal.encode(Array(bytes[..<(number % 12)])).utf8)
                }
            #expect(PackedID(id.span, &topics)?.bytes(topics) == id)
        }
    }
}
