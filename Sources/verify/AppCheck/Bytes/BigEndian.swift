/// Unsigned numbers in a fixed number of bytes.
enum BigEndian {
    /// - Returns: nil unless there are exactly `count` bytes, 8 at most.
    static func read(_ bytes: Span<UInt8>, _ count: Int) -> UInt64? {
        guard bytes.count == count, count <= 8 else { return nil }
        var value: UInt64 = 0
        for index in bytes.indices { value = value << 8 | UInt64(bytes[index]) }
        return value
    }

    /// Appends eight bytes.
    static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    static func bytes(_ value: UInt64, _ count: Int) -> [UInt8] {
        (1...count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - $0))) }
    }
}
