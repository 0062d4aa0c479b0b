/// DER by hand, so that tests can write wrong bytes on purpose.
enum DER {
    static func element(_ tag: [UInt8], _ content: [UInt8]...) -> [UInt8] {
        let content = content.flatMap { $0 }
        let length: [UInt8] =
            switch content.count {
            case ..<0x80: [UInt8(content.count)]
            case ..<0x100: [0x81, UInt8(content.count)]
            default: [0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
            }
        return tag + length + content
    }

    static func sequence(_ members: [UInt8]...) -> [UInt8] { element([0x30], members.flatMap { $0 }) }
    static func octets(_ content: [UInt8]) -> [UInt8] { element([0x04], content) }
    static func bits(_ content: [UInt8]) -> [UInt8] { element([0x03], [0x00] + content) }
    static func integer(_ content: [UInt8]) -> [UInt8] { element([0x02], content) }
    static func oid(_ content: [UInt8]) -> [UInt8] { element([0x06], content) }
    static func text(_ text: String) -> [UInt8] { octets(Array(text.utf8)) }

    /// `[number] EXPLICIT`, in as many octets as the number takes.
    static func explicit(_ number: Int, _ content: [UInt8]) -> [UInt8] {
        guard number >= 31 else { return element([0xA0 | UInt8(number)], content) }
        return element([0xBF, 0x80 | UInt8(number >> 7), UInt8(number & 0x7F)], content)
    }
}

/// CBOR by hand.
enum CBORText {
    static func head(_ major: UInt8, _ count: Int) -> [UInt8] {
        switch count {
        case ..<24: [major << 5 | UInt8(count)]
        case ..<0x100: [major << 5 | 24, UInt8(count)]
        default: [major << 5 | 25, UInt8(count >> 8), UInt8(count & 0xFF)]
        }
    }

    static func unsigned(_ value: Int) -> [UInt8] { head(0, value) }
    static func bytes(_ content: [UInt8]) -> [UInt8] { head(2, content.count) + content }
    static func text(_ text: String) -> [UInt8] { head(3, text.utf8.count) + Array(text.utf8) }
    static func array(_ items: [[UInt8]]) -> [UInt8] { head(4, items.count) + items.flatMap { $0 } }
    static func map(_ entries: [(String, [UInt8])]) -> [UInt8] {
        head(5, entries.count) + entries.flatMap { text($0.0) + $0.1 }
    }
}
