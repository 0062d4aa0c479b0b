/// The value of a `Host` header: `uri-host [ ":" port ]` of RFC 9110, 7.2.
enum HostValue {
    /// An empty name is one: RFC 9112 asks for it where a target has no authority.
    static func isSound(_ value: [UInt8]) -> Bool {
        guard value.first == UInt8(ascii: "[") else {
            let end = value.firstIndex(of: UInt8(ascii: ":")) ?? value.endIndex
            return isName(value[..<end]) && isPort(value[end...])
        }
        guard let end = value.firstIndex(of: UInt8(ascii: "]")) else { return false }
        // Which address it is changes nothing here.
        return end > 1 && value[1..<end].allSatisfy { isNameByte($0) || $0 == UInt8(ascii: ":") }
            && isPort(value[(end + 1)...])
    }

    /// A colon and digits, or nothing.
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        text.isEmpty || (text.first == UInt8(ascii: ":") && text.dropFirst().allSatisfy { (0x30...0x39).contains($0) })
    }

    private static func isName(_ text: ArraySlice<UInt8>) -> Bool {
        PercentCoding.decode(text) { byte, isEscaped in isEscaped || isNameByte(byte) } != nil
    }

    /// RFC 3986's `unreserved` and `sub-delims`.
    private static func isNameByte(_ byte: UInt8) -> Bool { nameBytes[Int(byte)] }

    private static let nameBytes: [Bool] = (0...255).map { byte in
        "-._~!$&'()*+,;=0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8.contains(UInt8(byte))
    }
}
