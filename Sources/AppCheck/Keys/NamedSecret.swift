package import Crypto

/// A secret of the configuration with its id.
package struct NamedSecret: Sendable {
    /// The configured id, any text; never published.
    package let id: String
    /// 32 bytes.
    package let secret: Secret

    package static let byteCount = 32

    package init(id: String, secret: Secret) {
        self.id = id
        self.secret = secret
    }
}

/// How a sealed object names its key: the first four bytes of SHA-256 over the configured id's UTF-8.
///
/// So a key must always keep its id in the configuration, which may be any text.
package struct SealingKeyID: Hashable, Sendable {
    package static let byteCount = 4
    package let value: UInt32

    package init(of id: String) {
        value = UInt32(truncatingIfNeeded: SHA256.hash(Array(id.utf8)).words.0 >> 32)
    }

    /// - Returns: nil unless there are exactly four bytes.
    package init?(_ bytes: Span<UInt8>) {
        guard let value = BigEndian.read(bytes, Self.byteCount) else { return nil }
        self.value = UInt32(truncatingIfNeeded: value)
    }

    /// Big-endian.
    package var bytes: [UInt8] { BigEndian.bytes(UInt64(value), Self.byteCount) }
}

/// Unsigned numbers in a fixed number of bytes.
enum BigEndian {
    /// - Returns: nil unless there are exactly `count` bytes, 8 at most.
    static func read(_ bytes: Span<UInt8>, _ count: Int) -> UInt64? {
        guard bytes.count == count, count <= 8 else { return nil }
        var value: UInt64 = 0
        for index in bytes.indices { value = value << 8 | UInt64(bytes[index]) }
        return value
    }

    /// Eight bytes.
    static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
        (1...count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - $0))) }
    }
}
