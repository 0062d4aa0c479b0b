import AppAttest
import Crypto
import DeviceLab
import Streams
import Testing

@testable import Pipeline

/// The straight-line decoder of a restore against the general one: same ledger, or same fault.
@Suite("Ledger records read straight through")
struct PlainRecordTests {
    /// What both decoders leave behind.
    private struct Trace: Equatable {
        var fault: String?
        var record: KeyRecord?
        var keys = 0
        var challenge: ConsumedID?
        var token: ConsumedID?
        var mark: PartitionMark?
        var rates: [String: RateCount] = [:]
        var sealingKeys: [UInt32: EvaluationTime] = [:]

        init(key: [UInt8], _ apply: (inout PartitionLedger) throws -> Void) {
            var ledger = PartitionLedger()
            do { try apply(&ledger) } catch { fault = "\(error)" }
            if let digest = Digest(Array(key.dropFirst())) {
                record = ledger.keys[KeyID(digest)]
                (challenge, token) = (ledger.challenges[digest], ledger.tokens[digest])
            }
            (keys, mark, rates, sealingKeys) = (ledger.keys.count, ledger.mark, ledger.rates, ledger.sealingKeys)
        }
    }

    private func general(_ key: [UInt8], _ value: [UInt8]?) -> Trace {
        Trace(key: key) { $0.apply(try LedgerCodec.decode(key: key, value: value)) }
    }

    private func straight(_ key: [UInt8], _ value: [UInt8]?) -> Trace {
        // Not alone in the bytes: nothing beside a record is read.
        var records = StoredRecords([StoredRecord(partition: 0, key: [1, 2], value: [0xA1, 0, 1])])
        records.append(StoredRecord(partition: 0, key: key, value: value))
        records.append(StoredRecord(partition: 0, key: [0xFF, 0xFF], value: [0xFF, 0xFF]))
        return Trace(key: key) { try $0.apply(records.places[1], records.bytes.span) }
    }

    private static func isPlain(_ value: [UInt8]) -> Bool { PlainKeyRecord(value.span, in: 0..<value.count) != nil }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `any record leaves the same ledger as the general decoder, or the same fault`(seed: UInt64) {
        var samples = RecordSamples(seed: seed)
        for _ in 0..<60 {
            let (key, value) = LedgerCodec.encode(samples.change())
            #expect(straight(key, value) == general(key, value))
            guard let value else { continue }
            for _ in 0..<6 {
                let (key, value) = samples.mutation(of: key, value)
                let (straight, general) = (straight(key, value), general(key, value))
                #expect(straight == general, "\(key) \(value)")
            }
        }
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `what the encoder writes of a usable key is read straight through`(seed: UInt64) {
        var samples = RecordSamples(seed: seed)
        for _ in 0..<25 {
            var record = samples.record()
            record.publicKey = P256PublicKey(uncheckedX: samples.digest(), y: samples.digest())
            record.registeredAt = EvaluationTime(milliseconds: abs(record.registeredAt.milliseconds))
            if let issued = record.issued {
                let time = EvaluationTime(milliseconds: abs(issued.notBefore.milliseconds))
                record.issued = IssueTime(notBefore: time, serial: issued.serial)
            }
            let value = LedgerCodec.encode(.key(KeyID(samples.digest()), record)).value ?? []
            #expect(Self.isPlain(value))
            // In the order of its fields only, and nothing cut off or added.
            #expect(!Self.isPlain(Array(value.dropLast())))
            #expect(!Self.isPlain(value + [0]))
            let fields = RecordSamples.fields(of: value)
            #expect(!Self.isPlain([value[0]] + fields[0] + fields[2] + fields[1] + fields[3...].joined()))
        }
    }

    @Test func `a longer request id that arrives late leaves the present one alone`() {
        var samples = RecordSamples(seed: 1)
        let key = KeyID(samples.digest())
        var (present, late) = (samples.record(), samples.record())
        (present.counter, late.counter, late.registeredAt) = (9, 5, present.registeredAt)
        for (id, other) in [(70, 3), (3, 70), (70, 80)] {
            present.lastRequest = LastRequest(id: samples.id(id), valueDigest: samples.digest())
            late.lastRequest = LastRequest(id: samples.id(other), valueDigest: samples.digest())
            var ledger = KeyLedger()
            ledger.set(key, present)
            ledger.set(key, late, mayBeLate: true)
            #expect(ledger[key]?.lastRequest == present.lastRequest)
        }
    }

    @Test(arguments: [8, 10, 13, 1_000_003])
    func `a slot index spreads its keys over the whole table`(count: Int) {
        let hashes = stride(from: 0, to: 1 << 32, by: 1 << 16).map { UInt64($0) }
        let places = hashes.map { SlotIndex.first($0, of: count) }
        #expect(places == places.sorted())
        #expect(places.first == 0 && SlotIndex.first(0xFFFF_FFFF, of: count) == count - 1)
        #expect(places[hashes.count / 2] == count / 2)
    }

    @Test func `names are told apart by their bytes, and bytes that are no text have no number`() {
        var interner = Interner(mostTexts: 600)
        // The same letter for a reader, in two spellings.
        let spellings: [[UInt8]] = [[0xC3, 0xA9], [0x65, 0xCC, 0x81]]
        let numbers = spellings.map { interner.number(of: $0.span) }
        #expect(numbers == [1, 2])
        #expect(numbers.map { interner.text($0 ?? 0).map { Array($0.utf8) } } == spellings)
        let broken: [UInt8] = [0xC3]
        #expect(interner.number(of: broken.span) == nil)
        for number in Array(0..<598) + Array(0..<600) {
            let text = Array("app \(number)".utf8)
            #expect(interner.number(of: text.span) == (number < 598 ? UInt32(number + 3) : nil))
        }
    }
}
