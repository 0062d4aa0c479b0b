/// `uri-host [ ":" port ]` of RFC 9110, by its grammar: RFC 3986, 3.2.2 and 3.2.3.
enum StrictHost {
    static func isHost(_ text: [UInt8]) -> Bool {
        let digits = text.reversed().prefix { isDigit($0) }.count
        let isPorted = text.dropLast(digits).last == colon
        let name = isPorted && !isBracketed(text[...]) ? text.dropLast(digits + 1) : text[...]
        return isBracketed(name) || isName(name)
    }

    private static let colon = UInt8(ascii: ":")

    /// An `IP-literal`; which address it is does not matter here.
    private static func isBracketed(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count > 2, text.first == UInt8(ascii: "["), text.last == UInt8(ascii: "]") else { return false }
        return text.dropFirst().dropLast().allSatisfy { $0 == colon || isPlain($0) }
    }

    /// A `reg-name`, which may be empty.
    private static func isName(_ text: ArraySlice<UInt8>) -> Bool {
        var escapes = text.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)[...]
        guard escapes.removeFirst().allSatisfy(isPlain) else { return false }
        return escapes.allSatisfy { part in
            part.count >= 2 && part.prefix(2).allSatisfy(isHexDigit) && part.dropFirst(2).allSatisfy(isPlain)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }

    /// `unreserved` and `sub-delims`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x24, 0x26...0x2C, 0x2D, 0x2E, 0x3B, 0x3D, 0x5F, 0x7E: true
        default: false
        }
    }
}
