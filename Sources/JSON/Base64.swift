/// RFC 4648 base64, both alphabets, strict: no white space, no foreign characters, no non-zero padding bits.
package enum Base64 {
    /// Either alphabet (one text may not mix them), padded or not.
    /// - Returns: nil for anything that is not canonical base64.
    package static func decode(_ text: [UInt8]) -> [UInt8]? { decode(text.span) }

    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        guard let count = significantCount(text) else { return nil }
        let rest = count & 3
        guard rest != 1 else { return nil }
        let fullCount = count &- rest
        // The two highest bits of all table entries so far, and the bits that padding must leave zero.
        var seen: UInt8 = 0
        var spill: UInt32 = 0
        // Reads `count` characters (that many exist), and writes 3/4 as many bytes (that much room was requested).
        let bytes = unsafe ByteScan.array(fullCount / 4 &* 3 &+ 2) { target in
            var written = 0
            unsafe text.withUnsafeBufferPointer { source in
                unsafe decoding.withUnsafeBufferPointer { table in
                    func value(_ index: Int) -> UInt32 {
                        let entry = unsafe table[Int(source[index])]
                        seen |= entry
                        return UInt32(entry & 0x3F)
                    }
                    var index = 0
                    while index < fullCount {
                        let group =
                            value(index) << 18 | value(index &+ 1) << 12 | value(index &+ 2) << 6 | value(index &+ 3)
                        unsafe target[written] = UInt8(truncatingIfNeeded: group >> 16)
                        unsafe target[written &+ 1] = UInt8(truncatingIfNeeded: group >> 8)
                        unsafe target[written &+ 2] = UInt8(truncatingIfNeeded: group)
                        written &+= 3
                        index &+= 4
                    }
                    guard rest >= 2 else { return }
                    let group = value(index) << 18 | value(index &+ 1) << 12 | (rest == 3 ? value(index &+ 2) << 6 : 0)
                    unsafe target[written] = UInt8(truncatingIfNeeded: group >> 16)
                    if rest == 3 { unsafe target[written &+ 1] = UInt8(truncatingIfNeeded: group >> 8) }
                    written &+= rest &- 1
                    spill = group & (rest == 3 ? 0xFF : 0xFFFF)
                }
            }
            return written
        }
        return seen & 0xC0 != 0xC0 && spill == 0 ? bytes : nil
    }

    /// The standard alphabet, padded.
    package static func encode(_ bytes: [UInt8]) -> [UInt8] { encode(bytes.span) }

    package static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        let count = encodedCount(bytes.count)
        // The buffer has room for all bytes that are written.
        return unsafe ByteScan.array(count) { unsafe encode(bytes, into: $0) }
    }

    private static func unpaddedCount(_ count: Int) -> Int { (count * 4 + 2) / 3 }

    /// The URL-safe alphabet, without padding.
    package static func encodeURL(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        appendURL(bytes.span, to: &text)
        return text
    }

    /// Appends the text of ``encodeURL(_:)``; without allocation where `text` has the room.
    package static func appendURL(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
        // There is room for the padding too, which is not counted as written.
        text.append(addingCapacity: encodedCount(bytes.count)) { output in
            unsafe output.withUnsafeMutableBufferPointer { target, initialized in
                let room = unsafe UnsafeMutableBufferPointer(rebasing: target[initialized...])
                _ = unsafe encode(bytes, into: room, urlAlphabet)
                initialized += unpaddedCount(bytes.count)
            }
        }
    }

    /// The length of the padded text of `count` bytes.
    static func encodedCount(_ count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Writes the standard padded text of `bytes`; returns its length.
    ///
    /// - Precondition: `target` has room for ``encodedCount(_:)``.
    static func encode(
        _ bytes: Span<UInt8>,
        into target: UnsafeMutableBufferPointer<UInt8>,
        _ alphabet: [UInt8] = alphabet
    ) -> Int {
        unsafe bytes.withUnsafeBufferPointer { source in
            unsafe alphabet.withUnsafeBufferPointer { alphabet in
                @inline(__always)
                func put(_ group: UInt32, _ count: Int, at place: Int) {
                    for index in 0..<count {
                        unsafe target[place &+ index] = alphabet[Int(group >> UInt32(18 &- 6 &* index) & 0x3F)]
                    }
                }
                var (read, written) = (0, 0)
                while read &+ 3 <= source.count {
                    let high = unsafe UInt32(source[read]) << 16 | UInt32(source[read &+ 1]) << 8
                    unsafe put(high | UInt32(source[read &+ 2]), 4, at: written)
                    read &+= 3
                    written &+= 4
                }
                let rest = source.count &- read
                guard rest > 0 else { return written }
                let high = unsafe UInt32(source[read]) << 16 | (rest == 2 ? UInt32(source[read &+ 1]) << 8 : 0)
                put(high, rest &+ 1, at: written)
                for index in (rest &+ 1)..<4 { unsafe target[written &+ index] = UInt8(ascii: "=") }
                return written &+ 4
            }
        }
    }

    /// The number of characters before the padding; nil where padding does not fill the last group of four.
    private static func significantCount(_ text: Span<UInt8>) -> Int? {
        guard !text.isEmpty, text[text.count - 1] == UInt8(ascii: "=") else { return text.count }
        guard text.count % 4 == 0 else { return nil }
        return text[text.count - 2] == UInt8(ascii: "=") ? text.count - 2 : text.count - 1
    }

    static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// A character's value in the low six bits. 0x40: only in the standard alphabet; 0x80: only in the URL-safe one;
    /// both: in none. So the or-ed entries of a text have both bits exactly when it is foreign or mixed.
    private static let decoding: [UInt8] = {
        var table = [UInt8](repeating: 0xC0, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        table[Int(UInt8(ascii: "+"))] = 0x40 | 62
        table[Int(UInt8(ascii: "/"))] = 0x40 | 63
        table[Int(UInt8(ascii: "-"))] = 0x80 | 62
        table[Int(UInt8(ascii: "_"))] = 0x80 | 63
        return table
    }()
}
