/// Writes CBOR items (RFC 8949) as bytes that a fault can cut and glue at will.
enum CBORBytes {
    /// A head in its shortest form.
    static func head(_ major: UInt8, _ value: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        appendHead(major, value, to: &bytes)
        return bytes
    }

    private static func appendHead(_ major: UInt8, _ value: UInt64, to bytes: inout [UInt8]) {
        let type = major << 5
        let (code, count): (UInt8, Int) =
            switch value {
            case 0..<24: (UInt8(value), 0)
            case 24..<0x100: (24, 1)
            case 0x100..<0x1_0000: (25, 2)
            case 0x1_0000..<0x1_0000_0000: (26, 4)
            default: (27, 8)
            }
        bytes.append(type | code)
        appendBigEndian(value, count, to: &bytes)
    }

    static func unsigned(_ value: UInt64) -> [UInt8] { head(0, value) }
    static func bytes(_ content: [UInt8]) -> [UInt8] { string(2, content, count: content.count) }
    static func text(_ content: String) -> [UInt8] { string(3, content.utf8, count: content.utf8.count) }

    static func array(_ items: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(items.reduce(maxHead) { $0 + $1.count })
        appendHead(4, UInt64(items.count), to: &bytes)
        for item in items { bytes += item }
        return bytes
    }

    static func map(_ entries: [CBORPair]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(entries.reduce(maxHead) { $0 + $1.key.count + $1.value.count })
        appendHead(5, UInt64(entries.count), to: &bytes)
        for entry in entries {
            bytes += entry.key
            bytes += entry.value
        }
        return bytes
    }

    /// The longest head.
    private static let maxHead = 9

    private static func string(_ major: UInt8, _ content: some Sequence<UInt8>, count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + maxHead)
        appendHead(major, UInt64(count), to: &bytes)
        bytes += content
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

    init(encodedKey: [UInt8], _ value: [UInt8]) {
        key = encodedKey
        self.value = value
    }

    func isNamed(_ name: String) -> Bool { key == CBORBytes.text(name) }
}
