internal import AppAttest
internal import AppCheck
internal import JSON
internal import Pipeline
internal import Streams

/// The part of a record by which its copies are known, which another tool may have captured: the request's meaning, the
/// timestamp and the headers that a worker reads. A tool writes JSON in its own way, and may leave out the latter two.
struct RecordFingerprint: Equatable {
    /// The hash of key and request, without its lowest bit, which says whether the record names its topic.
    let request: UInt32
    let namesTopic: Bool
    /// 0 = the copy has none.
    private let timestamp: UInt16
    /// The same.
    private let headers: UInt16

    /// - Parameter bare: reads what a tool may have changed so that a worker refuses it.
    init(_ decoded: DecodedRecord, bare: (DecodedRecord) -> DecodedRecord) {
        var hash = MeaningHash()
        hash.combine(text: decoded.record.key)
        hash.combine(requestOf: decoded.request == nil ? bare(decoded) : decoded)
        request = UInt32(truncatingIfNeeded: hash.value) & ~1
        namesTopic = !decoded.record.topic.isEmpty
        let hasTime = InboundRecord.timestamps.contains(decoded.record.timestamp)
        timestamp = hasTime ? Self.mark { $0.combine(decoded.record.timestamp) } : 0
        let id = Self.ownID(of: decoded)
        let hasHeaders = id != nil || decoded.installationID != nil || Self.hasBadHeaders(decoded)
        func takeHeaders(_ hash: inout MeaningHash) {
            hash.combine(text: id?.utf8)
            hash.combine(text: decoded.installationID?.utf8)
        }
        headers = hasHeaders ? Self.mark(takeHeaders) : 0
    }

    init(_ packed: UInt64) {
        request = UInt32(truncatingIfNeeded: packed) & ~1
        namesTopic = packed & 1 == 1
        timestamp = UInt16(truncatingIfNeeded: packed >> 32)
        headers = UInt16(truncatingIfNeeded: packed >> 48)
    }

    var packed: UInt64 {
        UInt64(request) | (namesTopic ? 1 : 0) | UInt64(timestamp) << 32 | UInt64(headers) << 48
    }

    /// Whether a copy of the same request says nothing else than this record does; it may say less.
    func covers(_ copy: RecordFingerprint) -> Bool {
        (copy.timestamp == 0 || copy.timestamp == timestamp) && (copy.headers == 0 || copy.headers == headers)
    }

    private static func hasBadHeaders(_ decoded: DecodedRecord) -> Bool {
        guard decoded.request == nil, case .deadLetter(.badHeaders) = decoded.shape else { return false }
        return true
    }

    /// Never 0.
    private static func mark(_ combine: (inout MeaningHash) -> Void) -> UInt16 {
        var hash = MeaningHash()
        combine(&hash)
        return UInt16(hash.value % UInt64(UInt16.max)) + 1
    }

    /// The request ID that the record brings; nil where its place stands in for it.
    private static func ownID(of decoded: DecodedRecord) -> ExactText? {
        let (topic, id) = (decoded.record.topic.utf8, decoded.requestID)
        guard id.utf8.starts(with: topic), id.utf8.dropFirst(topic.count).first == UInt8(ascii: "/") else { return id }
        let record = decoded.record
        return id == "\(record.topic)/\(record.partition)/\(record.offset)" ? nil : id
    }
}

/// Keyed, so that nobody can aim at equal hashes; a third of the time that the standard library's hash takes for an attestation.
/// It folds the product of two words, as wyhash does.
private struct MeaningHash {
    /// Other ones in each process, but where hashing is set to be deterministic.
    private static let keys = (
        UInt64(bitPattern: Int64("start".hashValue)), UInt64(bitPattern: Int64("word".hashValue)) | 1
    )

    private(set) var value: UInt64
    private let key: UInt64

    init() { (value, key) = Self.keys }

    private mutating func take(_ first: UInt64, _ second: UInt64) {
        let product = (value ^ first).multipliedFullWidth(by: key ^ second)
        value = product.high ^ product.low
    }

    mutating func combine(_ other: some Hashable) { take(UInt64(bitPattern: Int64(other.hashValue)), 0) }

    mutating func combine(text: [UInt8]?) {
        take(UInt64(bitPattern: Int64(text?.count ?? -1)), 0)
        guard let text else { return }
        var index = 0
        // Sixteen bytes are loaded only where sixteen are left.
        unsafe text.withUnsafeBytes { raw in
            while index &+ 16 <= raw.count {
                unsafe take(
                    raw.loadUnaligned(fromByteOffset: index, as: UInt64.self),
                    raw.loadUnaligned(fromByteOffset: index &+ 8, as: UInt64.self)
                )
                index &+= 16
            }
        }
        var words: (UInt64, UInt64) = (0, 0)
        for byte in text[index...] { words = (words.0 << 8 | words.1 >> 56, words.1 << 8 | UInt64(byte)) }
        take(words.0, words.1)
    }

    mutating func combine(requestOf decoded: DecodedRecord) {
        guard let request = decoded.request else { return combine(value: decoded.record.value) }
        combine(text: request.path.utf8)
        combine(text: request.keyID?.bytes)
        switch request.body {
        case .generateChallenge: break
        case .object(let object, let binding):
            switch object {
            case .attestation(let bytes), .assertion(let bytes): combine(text: bytes)
            }
            switch binding {
            case .clientDataHash(let hash): combine(text: hash)
            case .exchange(let exchange):
                combine(text: exchange.artifact)
                combine(text: exchange.challenge)
                combine(exchange.limitedUse)
                combine(exchange.namesLimitedUse)
            }
        case .debugToken(let hash, let limitedUse):
            combine(hash)
            combine(limitedUse)
        case .verifyToken(let token): combine(text: token)
        case .receipt(let receipt, let exchanged):
            combine(text: receipt)
            combine(text: exchanged.map { Array(String($0.milliseconds).utf8) })
        }
    }

    /// Takes in a value that is not a request, by its JSON where it has one.
    private mutating func combine(value: [UInt8]?) {
        guard let value, let document = try? JSONDocument(parsing: value, maxNodes: value.count + 1) else {
            return combine(text: value)
        }
        combine(node: document.root)
    }

    private mutating func combine(node: JSONNode) {
        combine(node.kind)
        switch node.kind {
        case .null: break
        case .bool: combine(node.bool)
        case .number: combine(text: node.writtenText)
        case .string: combine(text: node.stringBytes)
        case .array:
            combine(node.elements.count)
            for element in node.elements { combine(node: element) }
        case .object:
            combine(node.members.count)
            // A tool may sort them.
            for member in node.members.sorted(by: { $0.name.lexicographicallyPrecedes($1.name) }) {
                combine(text: member.name)
                combine(node: member.value)
            }
        }
    }
}
