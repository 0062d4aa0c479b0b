internal import AppAttest
internal import CBOR
internal import Crypto
internal import Streams

extension LedgerCodec {
    /// Why a record cannot be read.
    package struct Fault: Error, Equatable, Sendable {
        package let reason: String
    }

    /// - Parameter value: nil for a tombstone.
    package static func decode(key: [UInt8], value: [UInt8]?) throws(Fault) -> LedgerChange {
        guard let kind = kind(of: key) else {
            throw Fault(reason: "its key is of an unknown type")
        }
        guard let value else { return try forgotten(kind, key) }
        let fields = try Fields(value)
        switch kind {
        case .key: return .key(KeyID(try digest(key)), try record(fields))
        case .challenge: return .challenge(try digest(key), try consumed(fields))
        case .token: return .token(try digest(key), try consumed(fields))
        case .mark: return .mark(try mark(fields))
        case .rate:
            guard let app = String(validating: key.dropFirst(), as: UTF8.self) else { throw unreadableKey }
            let count = UInt64(clamping: try fields.number(2))
            return .rate(app: app, RateCount(start: try fields.time(1), count: count))
        case .sealingKey: return .sealingKey(try number(key), since: try fields.time(1))
        case .ban: return .ban(try digest(key), try ban(fields))
        }
    }

    private static func forgotten(_ kind: Kind, _ key: [UInt8]) throws(Fault) -> LedgerChange {
        switch kind {
        case .key: .keyForgotten(KeyID(try digest(key)))
        case .challenge: .challengeForgotten(try digest(key))
        case .token: .tokenForgotten(try digest(key))
        case .mark: .markForgotten
        // A reset deletes it: nothing is counted.
        case .rate:
            .rate(
                app: String(decoding: key.dropFirst(), as: UTF8.self),
                RateCount(start: EvaluationTime(milliseconds: 0), count: 0)
            )
        case .sealingKey: .sealingKeyForgotten(try number(key))
        case .ban: .banLifted(try digest(key))
        }
    }

    private static func number(_ key: [UInt8]) throws(Fault) -> UInt32 {
        guard key.count == 5 else { throw unreadableKey }
        return key.dropFirst().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func digest(_ key: [UInt8]) throws(Fault) -> Digest {
        let span = key.span
        guard span.count == 1 + Digest.byteCount, let digest = Digest(span.extracting(1..<span.count)) else {
            throw unreadableKey
        }
        return digest
    }

    private static var unreadableKey: Fault { Fault(reason: "the key has a wrong length") }

    private static func mark(_ fields: Fields) throws(Fault) -> PartitionMark {
        var mark = PartitionMark(streamTime: try fields.optionalTime(1), appliedOffset: try fields.optionalNumber(2))
        mark.usesSince = try fields.optionalTime(6)
        if let offset = mark.position.appliedOffset, offset < 0 { throw Fault(reason: "field 2 is not an offset") }
        if fields.has(3) { mark.position.group = try fields.bytes(3) }
        if fields.has(5) { mark.position.identity = try fields.bytes(5) }
        if fields.has(7) { mark.position.writer = try fields.bytes(7) }
        if fields.has(9) { mark.position.move = try fields.bytes(9) }
        if let partitions = try fields.optionalNumber(8) {
            guard let partitions = Int32(exactly: partitions) else {
                throw Fault(reason: "field 8 is not a number of partitions")
            }
            mark.position.partitions = partitions
        }
        guard let delivery = try fields.optionalNumber(4) else { return mark }
        guard let known = UInt8(exactly: delivery).flatMap({ PositionMark.Delivery(rawValue: $0) }) else {
            throw Fault(reason: "field 4 is not a kind of delivery")
        }
        mark.position.delivery = known
        return mark
    }

    private static func consumed(_ fields: Fields) throws(Fault) -> ConsumedID {
        ConsumedID(expiresAt: try fields.time(1), request: try fields.digest(2))
    }

    private static func ban(_ fields: Fields) throws(Fault) -> Ban {
        guard let kind = UInt8(exactly: try fields.number(2)).flatMap({ Ban.Kind(rawValue: $0) }) else {
            throw Fault(reason: "field 2 is not a kind of ban")
        }
        let offset = try fields.optionalNumber(4)
        if let offset, offset < 0 { throw Fault(reason: "field 4 is not an offset") }
        return Ban(kind, since: try fields.time(1), until: try fields.optionalTime(3), offset: offset)
    }

    private static func environment(_ number: Int64) throws(Fault) -> Environment {
        switch number {
        case 0: return .development
        case 1: return .production
        default: throw Fault(reason: "field 5 is not an environment")
        }
    }

    private static func category(_ number: Int64?) throws(Fault) -> UInt32? {
        guard let number else { return nil }
        guard let category = UInt32(exactly: number) else { throw Fault(reason: "field 6 is not a category") }
        return category
    }

    private static func record(_ fields: Fields) throws(Fault) -> KeyRecord {
        let point = try fields.bytes(1)
        let counter = try fields.number(2)
        guard let counter = UInt32(exactly: counter) else { throw Fault(reason: "a counter has at most 32 bits") }
        var record = KeyRecord(
            publicKey: P256PublicKey(coordinates: point),
            counter: counter,
            app: try fields.optionalText(3),
            appleAppID: try fields.text(4),
            environment: try environment(fields.number(5)),
            validationCategory: try category(fields.optionalNumber(6)),
            registeredAt: try fields.time(7),
            nonce: fields.has(8) ? try fields.digest(8) : nil,
            issued: try fields.issueTime(10),
            lastRequest: try fields.lastRequest(9),
            risk: try fields.risk(11)
        )
        if record.publicKey == nil { record.unusableKey = point }
        record.lastUse = UInt32(clamping: try fields.bits(13))
        let unseen = UInt8(clamping: try fields.bits(14))
        record.counters = KeyCounters(highest: counter, skipped: try fields.bits(12), unseen: unseen)
        return record
    }
}

extension P256PublicKey {
    /// X ‖ Y, which our own ledger keeps only for checked points; other lengths are not points.
    fileprivate init?(coordinates bytes: [UInt8]) {
        let span = bytes.span
        guard span.count == 64, let x = Digest(span.extracting(0..<32)), let y = Digest(span.extracting(32..<64)) else {
            return nil
        }
        self.init(uncheckedX: x, y: y)
    }
}

/// A value's map, by its unsigned keys.
private struct Fields {
    private let value: [UInt8]
    private var items: [(key: UInt64, item: CBORItem)] = []

    init(_ value: [UInt8]) throws(LedgerCodec.Fault) {
        self.value = value
        let root: CBORItem
        do throws(CBORFault) {
            root = try CBORReader.read(value.span, in: 0..<value.count, maxDepth: 3, maxItems: 64)
        } catch {
            throw LedgerCodec.Fault(reason: "the value is not strict CBOR (\(error.code))")
        }
        guard case .map(let entries) = root else { throw LedgerCodec.Fault(reason: "the value is not a map") }
        items.reserveCapacity(entries.count)
        for entry in entries {
            guard case .unsigned(let key) = entry.key else { throw LedgerCodec.Fault(reason: "a key is not a number") }
            items.append((key, entry.value))
        }
        guard case .unsigned(let version)? = self[0] else {
            throw LedgerCodec.Fault(reason: "it has no schema version")
        }
        guard version == LedgerCodec.schemaVersion else {
            throw LedgerCodec.Fault(reason: "it has schema version \(version), written by a newer attest-worker")
        }
    }

    private subscript(key: UInt64) -> CBORItem? { items.first { $0.key == key }?.item }

    func has(_ key: UInt64) -> Bool { self[key] != nil }

    func optionalNumber(_ key: UInt64) throws(LedgerCodec.Fault) -> Int64? {
        guard let item = self[key] else { return nil }
        guard let number = Self.number(item) else { throw LedgerCodec.Fault(reason: "field \(key) is not a number") }
        return number
    }

    private static func number(_ item: CBORItem) -> Int64? {
        switch item {
        case .unsigned(let value): Int64(exactly: value)
        case .negative(let value): Int64(exactly: value).map { -1 - $0 }
        default: nil
        }
    }

    func issueTime(_ key: UInt64) throws(LedgerCodec.Fault) -> IssueTime? {
        guard let item = self[key] else { return nil }
        guard case .array(let parts) = item, parts.count == 2, let notBefore = Self.number(parts[0]),
            let serial = Self.number(parts[1]), serial >= 0, Self.isTime(notBefore)
        else { throw LedgerCodec.Fault(reason: "field \(key) is not a time of issue") }
        return IssueTime(notBefore: EvaluationTime(milliseconds: notBefore), serial: serial)
    }

    func risk(_ key: UInt64) throws(LedgerCodec.Fault) -> RiskMetric? {
        guard let item = self[key] else { return nil }
        guard case .array(let parts) = item, parts.count == 2, case .unsigned(let value) = parts[0],
            case .unsigned(let time) = parts[1], let value = UInt16(exactly: value),
            let createdAt = UInt32(exactly: time), createdAt > 0
        else { throw LedgerCodec.Fault(reason: "field \(key) is not a risk metric") }
        return RiskMetric(value, createdAt: createdAt)
    }

    /// 0 for an absent field.
    func bits(_ key: UInt64) throws(LedgerCodec.Fault) -> UInt64 {
        guard let item = self[key] else { return 0 }
        guard case .unsigned(let bits) = item else { throw LedgerCodec.Fault(reason: "field \(key) is not a number") }
        return bits
    }

    func number(_ key: UInt64) throws(LedgerCodec.Fault) -> Int64 { try required(optionalNumber(key), key) }

    func optionalTime(_ key: UInt64) throws(LedgerCodec.Fault) -> EvaluationTime? {
        guard let number = try optionalNumber(key) else { return nil }
        guard Self.isTime(number) else {
            throw LedgerCodec.Fault(reason: "field \(key) is not a time")
        }
        return EvaluationTime(milliseconds: number)
    }

    /// The range of RFC 3339, and as much before 1970: sums of such times cannot overflow.
    private static func isTime(_ milliseconds: Int64) -> Bool {
        milliseconds.magnitude <= InboundRecord.timestamps.upperBound.magnitude
    }

    func time(_ key: UInt64) throws(LedgerCodec.Fault) -> EvaluationTime { try required(optionalTime(key), key) }

    func bytes(_ key: UInt64) throws(LedgerCodec.Fault) -> [UInt8] {
        guard case .bytes(let range)? = self[key] else {
            throw LedgerCodec.Fault(reason: "field \(key) is not a byte string")
        }
        return Array(value[range])
    }

    func digest(_ key: UInt64) throws(LedgerCodec.Fault) -> Digest {
        guard case .bytes(let range)? = self[key], let digest = Digest(value.span.extracting(range)) else {
            throw LedgerCodec.Fault(reason: "field \(key) does not have 32 bytes")
        }
        return digest
    }

    func text(_ key: UInt64) throws(LedgerCodec.Fault) -> String { try required(optionalText(key), key) }

    func optionalText(_ key: UInt64) throws(LedgerCodec.Fault) -> String? {
        guard let item = self[key] else { return nil }
        guard case .text(let range) = item else { throw LedgerCodec.Fault(reason: "field \(key) is not a text") }
        return String(decoding: value[range], as: UTF8.self)
    }

    func lastRequest(_ key: UInt64) throws(LedgerCodec.Fault) -> LastRequest? {
        guard let item = self[key] else { return nil }
        guard case .array(let parts) = item, parts.count == 4, case .text(let id) = parts[0],
            case .bytes(let digest) = parts[1], case .unsigned(let issued) = parts[2],
            case .unsigned(let expires) = parts[3], let digest = Digest(value.span.extracting(digest)),
            let issued = UInt32(exactly: issued), let expires = UInt32(exactly: expires),
            let id = ExactText(validating: Array(value[id]))
        else { throw LedgerCodec.Fault(reason: "field \(key) is not a request") }
        return LastRequest(
            id: id,
            valueDigest: digest,
            issuedAt: issued,
            expiresAt: expires
        )
    }

    private func required<Value>(_ value: Value?, _ key: UInt64) throws(LedgerCodec.Fault) -> Value {
        guard let value else { throw LedgerCodec.Fault(reason: "field \(key) is missing") }
        return value
    }
}
