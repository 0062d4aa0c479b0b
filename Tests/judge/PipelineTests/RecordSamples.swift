import AppAttest
import Crypto
import DeviceLab
import Pipeline
import Streams

/// Random records of the ledger topic, and what could go wrong with their bytes.
struct RecordSamples {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    mutating func digest() -> Digest { SHA256.hash(random.bytes(8)) }

    /// Numbers of every width alike.
    private mutating func number() -> Int64 { Int64(random.next() >> UInt64(Int.random(in: 1..<64, using: &random))) }

    private mutating func time() -> EvaluationTime {
        EvaluationTime(milliseconds: number() % 253_402_300_800_000 * (chance(10) ? -1 : 1))
    }

    mutating func id(_ count: Int) -> ExactText {
        if count > 30, !chance(3) { return uuid() }
        let letters: [Character] = chance(4) ? ["é", "x", "\u{1F600}"] : ["r", "-", "7"]
        return ExactText(String((0..<count).map { _ in letters.randomElement(using: &random) ?? "r" }))
    }

    /// A UUID in lower case, or nearly one.
    private mutating func uuid() -> ExactText {
        var text = Array(Hexadecimal.encode(random.bytes(16)).utf8)
        for place in [20, 16, 12, 8] { text.insert(UInt8(ascii: "-"), at: place) }
        if chance(3) {
            text[Int.random(in: 0..<36, using: &random)] = chance(2) ? UInt8(ascii: "F") : UInt8(ascii: "g")
        }
        return ExactText(validating: text) ?? ""
    }

    /// Mostly a record's own.
    mutating func keyID(of record: KeyRecord) -> KeyID {
        guard let point = record.publicKey, !chance(4) else { return KeyID(digest()) }
        return KeyID(of: point)
    }

    mutating func record() -> KeyRecord {
        var record = KeyRecord(
            publicKey: chance(8) ? nil : P256PublicKey(uncheckedX: digest(), y: digest()),
            counter: UInt32(truncatingIfNeeded: number()),
            app: chance(3) ? nil : "projects/\(number() % 5)/apps/\(id(3))",
            appleAppID: chance(9) ? "" : "TEAM.\(id(5))",
            environment: chance(2) ? .production : .development,
            validationCategory: chance(2) ? UInt32(truncatingIfNeeded: number()) : nil,
            registeredAt: time(),
            nonce: chance(3) ? nil : digest(),
            issued: chance(3)
                ? nil
                : IssueTime(
                    notBefore: chance(4) ? time() : EvaluationTime(milliseconds: number() >> 32 * 1000),
                    serial: number()
                )
        )
        if chance(3) {
            let createdAt = UInt32(truncatingIfNeeded: number()) | 1
            record.risk = RiskMetric(UInt16(truncatingIfNeeded: number()), createdAt: createdAt)
        }
        if chance(3) { record.counters = KeyCounters(highest: record.counter, skipped: random.next()) }
        if chance(5) { record.unseen = chance(2) ? KeyCounters.allUnseen : .random(in: 1...64, using: &random) }
        if chance(3) { record.lastUse = UInt32(truncatingIfNeeded: number()) }
        if record.publicKey == nil { record.unusableKey = random.bytes(Int.random(in: 0..<70, using: &random)) }
        guard !chance(4) else { return record }
        record.lastRequest = LastRequest(
            id: id(Int.random(in: 0..<45, using: &random)),
            valueDigest: digest(),
            issuedAt: UInt32(truncatingIfNeeded: number()),
            expiresAt: UInt32(truncatingIfNeeded: number())
        )
        return record
    }

    private mutating func ban() -> Ban {
        Ban(
            chance(2) ? .key : .installation,
            since: time(),
            until: chance(2) ? time() : nil,
            offset: chance(3) ? nil : number()
        )
    }

    private mutating func mark() -> PartitionMark {
        var mark = PartitionMark(streamTime: time(), appliedOffset: number(), group: random.bytes(3))
        mark.position.partitions = chance(3) ? nil : Int32.random(in: -100...100, using: &random)
        mark.usesSince = chance(2) ? time() : nil
        mark.position.writer = chance(2) ? random.bytes(5) : nil
        return mark
    }

    private mutating func key() -> LedgerChange {
        let record = record()
        return .key(keyID(of: record), record)
    }

    mutating func change() -> LedgerChange {
        switch Int.random(in: 0..<13, using: &random) {
        case 12: chance(2) ? .banLifted(digest()) : .ban(digest(), ban())
        case 0: .challenge(digest(), ConsumedID(expiresAt: time(), request: digest()))
        case 1: .token(digest(), ConsumedID(expiresAt: time(), request: digest()))
        case 2: .mark(mark())
        case 3: .rate(app: id(4).shown, RateCount(start: time(), count: 7))
        case 4: .sealingKey(UInt32(truncatingIfNeeded: number()), since: time())
        case 5: chance(2) ? .keyForgotten(KeyID(digest())) : .challengeForgotten(digest())
        default: key()
        }
    }

    /// A record with one thing wrong, or merely unusual.
    mutating func mutation(of key: [UInt8], _ value: [UInt8]) -> ([UInt8], [UInt8]) {
        var (key, value) = (key, value)
        let place = Int.random(in: 0..<value.count, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: value[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: value[place] = UInt8.random(in: 0...255, using: &random)
        case 2: value.remove(at: place)
        case 3: value.insert(UInt8.random(in: 0...255, using: &random), at: place)
        case 4: value.removeLast(value.count - place)
        case 5: value += random.bytes(Int.random(in: 1..<5, using: &random))
        case 6: value = rearranged(value)
        case 7: value = widened(value)
        // A byte that no UTF-8 has, most likely within a text or digest.
        case 8: value[place] = 0xFF
        default:
            let index = Int.random(in: 0..<key.count, using: &random)
            if chance(2) { key[index] ^= 1 } else { key.remove(at: index) }
        }
        return (key, value)
    }

    /// Fields in another order, twice, missing or added, with a count that fits or does not.
    private mutating func rearranged(_ value: [UInt8]) -> [UInt8] {
        var fields = Self.fields(of: value)
        let (one, other) = (
            Int.random(in: 0..<fields.count, using: &random), Int.random(in: 0..<fields.count, using: &random)
        )
        switch Int.random(in: 0..<4, using: &random) {
        case 0: fields.swapAt(one, other)
        case 1: fields.append(fields[one])
        case 2: fields.remove(at: one)
        default: fields.append([11, 0x43, 1, 2, 3])
        }
        return [chance(4) ? value[0] : 0xA0 | UInt8(fields.count)] + fields.joined()
    }

    /// A field's first value with a longer head than it needs.
    private mutating func widened(_ value: [UInt8]) -> [UInt8] {
        var fields = Self.fields(of: value)
        let index = Int.random(in: 0..<fields.count, using: &random)
        let head = fields[index][1]
        guard head & 0x1F < 24 else { return value }
        fields[index].replaceSubrange(1...1, with: [head & 0xE0 | 24, head & 0x1F])
        return [value[0]] + fields.joined()
    }

    /// The pairs of a map that the encoder wrote: each key and its value.
    static func fields(of value: [UInt8]) -> [[UInt8]] {
        var fields: [[UInt8]] = []
        var offset = 1
        while offset < value.count {
            let start = offset
            offset = end(of: value, at: end(of: value, at: start))
            fields.append(Array(value[start..<offset]))
        }
        return fields
    }

    private static func end(of value: [UInt8], at start: Int) -> Int {
        let (major, information) = (value[start] >> 5, value[start] & 0x1F)
        let width = information < 24 ? 0 : 1 << Int(information - 24)
        let number = value[start + 1..<start + 1 + width].reduce(0) { $0 << 8 | Int($1) }
        var offset = start + 1 + width
        let count = width == 0 ? Int(information) : number
        if major == 2 || major == 3 { return offset + count }
        if major == 4 { for _ in 0..<count { offset = end(of: value, at: offset) } }
        return offset
    }
}
