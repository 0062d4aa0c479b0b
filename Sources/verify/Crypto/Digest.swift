/// 32 bytes as four big-endian words: a SHA-256 digest, a key ID, a field element or a scalar.
///
/// Words instead of an array keep it hashable, comparable in four instructions and free of allocation.
package struct Digest: Hashable, Sendable {
    private let w0: UInt64
    private let w1: UInt64
    private let w2: UInt64
    private let w3: UInt64

    package static let byteCount = 32

    /// The value as four words, the most significant first.
    package var words: (UInt64, UInt64, UInt64, UInt64) { (w0, w1, w2, w3) }

    /// - Parameter words: the most significant first.
    package init(words: (UInt64, UInt64, UInt64, UInt64)) { (w0, w1, w2, w3) = words }

    /// - Returns: nil unless `bytes` holds exactly 32 bytes.
    package init?(_ bytes: Span<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(leftPadding: bytes)
    }

    package init?(_ bytes: [UInt8]) { self.init(bytes.span) }

    /// An unsigned big-endian number of at most 32 bytes.
    ///
    /// - Returns: nil for more bytes.
    init?(leftPadding bytes: Span<UInt8>) {
        guard bytes.count <= Self.byteCount else { return nil }
        if bytes.count == Self.byteCount {
            // Four loads of eight bytes: the 32 that are there.
            self = unsafe bytes.withUnsafeBytes { raw in
                func word(_ start: Int) -> UInt64 {
                    unsafe UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: start, as: UInt64.self))
                }
                return Digest(words: (word(0), word(8), word(16), word(24)))
            }
            return
        }
        let padding = Self.byteCount - bytes.count
        func word(_ start: Int) -> UInt64 {
            var value: UInt64 = 0
            for index in start..<(start + 8) {
                value = value << 8 | (index < padding ? 0 : UInt64(bytes[index - padding]))
            }
            return value
        }
        (w0, w1, w2, w3) = (word(0), word(8), word(16), word(24))
    }

    package var bytes: [UInt8] {
        // A copy of the 32 bytes.
        withBytes { bytes in unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) } }
    }

    /// Calls `body` with the 32 bytes, most significant first.
    package func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        let words = (w0.bigEndian, w1.bigEndian, w2.bigEndian, w3.bigEndian)
        // Four words without padding are 32 bytes, which live as long as the call.
        return unsafe withUnsafeBytes(of: words) { body(unsafe $0.bindMemory(to: UInt8.self).span) }
    }

    package func append(to bytes: inout [UInt8]) {
        bytes.append(addingCapacity: Self.byteCount) { write(to: &$0) }
    }

    package func write(to output: inout OutputSpan<UInt8>) {
        precondition(output.freeCapacity >= Self.byteCount, "32 bytes fit")
        withBytes { bytes in
            // There is room for the 32 bytes, and as many are copied.
            unsafe output.withUnsafeMutableBufferPointer { target, count in
                unsafe bytes.withUnsafeBufferPointer {
                    _ = unsafe UnsafeMutableBufferPointer(rebasing: target[count...]).update(fromContentsOf: $0)
                }
                count += Self.byteCount
            }
        }
    }

    /// Writes the 32 bytes into `buffer` from `start` on.
    package func write(to buffer: inout MutableSpan<UInt8>, at start: Int) {
        precondition(start >= 0 && start <= buffer.count - Self.byteCount, "32 bytes fit")
        withBytes { bytes in
            // Both have 32 bytes there.
            unsafe buffer.withUnsafeMutableBufferPointer { target in
                unsafe bytes.withUnsafeBufferPointer {
                    _ = unsafe UnsafeMutableBufferPointer(rebasing: target[start...]).update(fromContentsOf: $0)
                }
            }
        }
    }

    /// Byte `index`, 0 to 31, most significant first.
    package subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < Self.byteCount, "a digest has 32 bytes")
        let word = index < 16 ? (index < 8 ? w0 : w1) : (index < 24 ? w2 : w3)
        return UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * (index & 7)))
    }

    var isZero: Bool { w0 | w1 | w2 | w3 == 0 }
}
