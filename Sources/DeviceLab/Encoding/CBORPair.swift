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
