/// Damage to a CBOR map that any strict reader must refuse, shared by attestations and assertions.
enum CBORDamage {
    /// The object must begin with a map of fewer than 23 entries.
    static func indefinite(_ object: inout [UInt8]) {
        object[0] = 0xBF
        object.append(0xFF)
    }

    static func nonMinimalHead(_ object: inout [UInt8]) { object.replaceSubrange(0..<1, with: [0xB8, object[0] & 31]) }

    static func tag(_ object: inout [UInt8]) { object.insert(contentsOf: [0xD9, 0xD9, 0xF7], at: 0) }

    static func trailingByte(_ object: inout [UInt8]) { object.append(0) }

    static func hugeLength(_ object: inout [UInt8]) {
        object = [0xA1, 0x61, 0x61, 0x5B] + [UInt8](repeating: 0xFF, count: 8)
    }

    /// An unknown member, which by itself would be ignored.
    static func unknown(_ value: [UInt8]) -> CBORPair { CBORPair("unknown", value) }

    static let float: [UInt8] = [0xF9, 0x3C, 0x00]
    static let invalidUTF8: [UInt8] = [0x62, 0xC3, 0x28]
    /// Additional information 28 means nothing.
    static let reservedHead: [UInt8] = [0x1C]
    static let deep: [UInt8] = [UInt8](repeating: 0x81, count: 16) + [0]
    static let manyItems = CBORBytes.array([[UInt8]](repeating: [0], count: 600))

    /// A definite-length byte string as one of indefinite length with a single chunk.
    static func inChunks(_ item: [UInt8]) -> [UInt8] { [0x5F] + item + [0xFF] }

    /// A text of fewer than 24 bytes with its length in a byte of its own.
    static func longHead(_ text: [UInt8]) -> [UInt8] { [text[0] & 0xE0 | 24, text[0] & 31] + text.dropFirst() }
}

extension [CBORPair] {
    mutating func edit(_ name: String, _ change: (inout [UInt8]) -> Void) {
        for index in indices where self[index].isNamed(name) { change(&self[index].value) }
    }

    mutating func set(_ name: String, _ value: [UInt8]) { edit(name) { $0 = value } }
    mutating func remove(_ name: String) { removeAll { $0.isNamed(name) } }
    mutating func duplicate(_ name: String) { append(contentsOf: filter { $0.isNamed(name) }) }
}
