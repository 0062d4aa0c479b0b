internal import Crypto

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
