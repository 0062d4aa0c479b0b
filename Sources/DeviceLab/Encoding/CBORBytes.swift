/// Writes CBOR items (RFC 8949) as bytes that a fault can cut and glue at will.
enum CBORBytes {
    /// A head in its shortest form.
    static func head(_ major: UInt8, _ value: UInt64) -> [UInt8] {
        let type = major << 5
        switch value {
        case 0..<24: return [type | UInt8(value)]
        case 24..<0x100: return [type | 24, UInt8(value)]
        case 0x100..<0x1_0000: return [type | 25] + bigEndian(value, 2)
        case 0x1_0000..<0x1_0000_0000: return [type | 26] + bigEndian(value, 4)
        default: return [type | 27] + bigEndian(value, 8)
        }
    }

    static func unsigned(_ value: UInt64) -> [UInt8] { head(0, value) }
    static func bytes(_ content: [UInt8]) -> [UInt8] { head(2, UInt64(content.count)) + content }
    static func text(_ content: String) -> [UInt8] { head(3, UInt64(content.utf8.count)) + Array(content.utf8) }
    static func array(_ items: [[UInt8]]) -> [UInt8] { joined(head(4, UInt64(items.count)), items) }

    static func map(_ entries: [CBORPair]) -> [UInt8] {
        joined(head(5, UInt64(entries.count)), entries.flatMap { [$0.key, $0.value] })
    }

    private static func joined(_ head: [UInt8], _ items: [[UInt8]]) -> [UInt8] {
        var bytes = head
        bytes.reserveCapacity(items.reduce(head.count) { $0 + $1.count })
        for item in items { bytes += item }
        return bytes
    }

    static func bigEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }
}
