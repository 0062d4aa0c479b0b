/// Strict UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
package enum UTF8Text {
    package static func isValid(_ bytes: [UInt8]) -> Bool { isValid(bytes.span) }

    package static func isValid(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        while true {
            index = ByteScan.endOfASCII(bytes, from: index)
            guard index < bytes.count else { return true }
            guard let next = endOfSequence(bytes, at: index) else { return false }
            index = next
        }
    }

    /// The index after the sequence that starts at `start`, a byte from 0x80 on; nil if it is not well-formed.
    static func endOfSequence(_ bytes: Span<UInt8>, at start: Int) -> Int? {
        // Table 3-7 of the Unicode standard: the second byte's range depends on the first.
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch bytes[start] {
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: return nil
        }
        guard bytes.count - start >= length, second.contains(bytes[start + 1]) else { return nil }
        for index in (start + 2)..<(start + length) where bytes[index] & 0xC0 != 0x80 { return nil }
        return start + length
    }

    /// The text with U+FFFD for what is not well-formed.
    static func repairing(_ bytes: Span<UInt8>) -> String {
        // The buffer is read inside the call only.
        unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
