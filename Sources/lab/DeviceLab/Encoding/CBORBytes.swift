/// Writes CBOR items (RFC 8949) as bytes that a fault can cut and glue at will.
enum CBORBytes {
    static func unsigned(_ value: UInt64) -> [UInt8] { item(0, value, EmptyCollection<[UInt8]>()) }

    static func bytes(_ content: [UInt8]) -> [UInt8] {
        item(2, UInt64(content.count), CollectionOfOne(content))
    }

    static func text(_ content: String) -> [UInt8] {
        item(3, UInt64(content.utf8.count), CollectionOfOne(Array(content.utf8)))
    }

    static func array(_ items: [[UInt8]]) -> [UInt8] { item(4, UInt64(items.count), items) }

    static func map(_ entries: [CBORPair]) -> [UInt8] {
        item(5, UInt64(entries.count), entries.flatMap { [$0.key, $0.value] })
    }

    /// A head in its shortest form, and the bytes that it announces.
    private static func item(_ major: UInt8, _ value: UInt64, _ parts: some Collection<[UInt8]>) -> [UInt8] {
        let (code, count): (UInt8, Int) =
            switch value {
            case 0..<24: (UInt8(value), 0)
            case 24..<0x100: (24, 1)
            case 0x100..<0x1_0000: (25, 2)
            case 0x1_0000..<0x1_0000_0000: (26, 4)
            default: (27, 8)
            }
        var bytes: [UInt8] = []
        // The longest head has nine bytes.
        bytes.reserveCapacity(parts.reduce(9) { $0 + $1.count })
        bytes.append(major << 5 | code)
        appendBigEndian(value, count, to: &bytes)
        for part in parts { bytes += part }
        return bytes
    }

    static func bigEndian(_ value: UInt64, _ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        appendBigEndian(value, count, to: &bytes)
        return bytes
    }

    static func appendBigEndian(_ value: UInt64, _ count: Int, to bytes: inout [UInt8]) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - index)))) }
    }
}

/// A map entry, both halves encoded.
struct CBORPair: Sendable {
    var key: [UInt8]
    var value: [UInt8]

    init(_ key: String, _ value: [UInt8]) {
        self.key = CBORBytes.text(key)
        self.value = value
    }

    func isNamed(_ name: String) -> Bool { key == CBORBytes.text(name) }
}
