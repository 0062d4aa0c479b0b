internal import CByteScan

/// RFC 4648 base64, both alphabets, strict: no white space, no foreign characters, no non-zero padding bits.
package enum Base64 {
    /// Either alphabet (one text may not mix them), padded or not.
    /// - Returns: nil for anything that is not canonical base64.
    package static func decode(_ text: [UInt8]) -> [UInt8]? { decode(text.span) }

    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        guard let count = decodedCount(text) else { return nil }
        // All threads share the storage of an empty array, and an initializer without room would write its count there.
        guard count > 0 else { return text.isEmpty ? [] : nil }
        var isCanonical = false
        // The room that ``decode(_:into:)`` asks for, all of which it writes.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { target, initialized in
            isCanonical = unsafe decode(text, into: target)
            initialized = count
        }
        return isCanonical ? bytes : nil
    }

    /// Decodes a text with JSON's escapes in it: the same as ``decode(_:)`` of the text that they stand for.
    ///
    /// - Returns: nil too where a backslash starts no escape.
    package static func decode(escaped text: Span<UInt8>) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        var isCanonical = false
        // No text is longer without its escapes, nor its bytes than that: both have room, one after the other.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: text.count) { room, initialized in
            guard let length = unsafe ByteScan.unescapeBase64(text, into: room) else { return }
            let plain = unsafe UnsafeMutableBufferPointer(rebasing: room[..<length])
            guard let count = unsafe decodedCount(Span(_unsafeElements: UnsafeBufferPointer(plain))) else { return }
            // Three bytes are written after the four that they come from have been read, and not beyond these.
            let target = unsafe UnsafeMutableBufferPointer(rebasing: room[..<count])
            isCanonical = unsafe decode(UnsafeBufferPointer(plain), into: target)
            initialized = count
        }
        return isCanonical ? bytes : nil
    }

    /// Decodes a text whose bytes fill `target` exactly.
    ///
    /// - Returns: false for a text of another length, or one that is not canonical base64 in the standard alphabet;
    ///   `target` is then garbage.
    package static func decodeStandard(_ text: Span<UInt8>, filling target: inout MutableSpan<UInt8>) -> Bool {
        guard decodedCount(text) == target.count else { return false }
        // Its room is the decoded text's.
        return unsafe target.withUnsafeMutableBufferPointer { unsafe decode(text, into: $0, refusing: urlSafe) }
    }

    /// The number of bytes that a text of this length and padding stands for; nil where there is none.
    private static func decodedCount(_ text: Span<UInt8>) -> Int? {
        guard let count = significantCount(text) else { return nil }
        let rest = count & 3
        return rest == 1 ? nil : count / 4 &* 3 &+ max(0, rest &- 1)
    }

    private static func decode(
        _ text: Span<UInt8>,
        into target: UnsafeMutableBufferPointer<UInt8>,
        refusing refused: UInt32 = foreign
    ) -> Bool {
        // The target is as long as the text asks for.
        unsafe text.withUnsafeBufferPointer { unsafe decode($0, into: target, refusing: refused) }
    }

    /// Writes every byte of `target`, whatever the text is. Both may begin at the same place.
    ///
    /// - Precondition: `target` has ``decodedCount(_:)`` bytes.
    ///
    /// - Parameter refused: marks of which a text must not have all.
    private static func decode(
        _ source: UnsafeBufferPointer<UInt8>,
        into target: UnsafeMutableBufferPointer<UInt8>,
        refusing refused: UInt32 = foreign
    ) -> Bool {
        // The marks of all table entries so far, and the bits that padding must leave zero.
        var seen: UInt32 = 0
        let written = target.count
        // Reads the groups that the target's length stands for, which the text has, and writes inside the target.
        unsafe decoding.withUnsafeBufferPointer { table in
            @inline(__always)
            func value(_ index: Int) -> UInt32 { unsafe table[Int(source[index])] }
            var (read, place) = unsafe decodeRun(source, into: target, &seen)
            while place &+ 3 <= written {
                let (first, second) = (value(read), value(read &+ 1))
                let (third, fourth) = (value(read &+ 2), value(read &+ 3))
                seen |= first | second | third | fourth
                let group = first << 18 | second << 12 | third << 6 | fourth
                unsafe target[place] = UInt8(truncatingIfNeeded: group >> 16)
                unsafe target[place &+ 1] = UInt8(truncatingIfNeeded: group >> 8)
                unsafe target[place &+ 2] = UInt8(truncatingIfNeeded: group)
                read &+= 4
                place &+= 3
            }
            guard place < written else { return }
            let hasTwo = written &- place == 2
            let third = hasTwo ? value(read &+ 2) : 0
            let (first, second) = (value(read), value(read &+ 1))
            let group = (first & 0x3F) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6
            seen |= first | second | third
            unsafe target[place] = UInt8(truncatingIfNeeded: group >> 16)
            if hasTwo { unsafe target[place &+ 1] = UInt8(truncatingIfNeeded: group >> 8) }
            if group & (hasTwo ? 0xFF : 0xFFFF) != 0 { seen |= foreign }
        }
        return seen & refused != refused
    }

    /// Decodes a long text's beginning many groups at a time, five times as fast as the table below.
    ///
    /// - Returns: how many characters were read, and how many bytes they stand for.
    @inline(__always)
    private static func decodeRun(
        _ source: UnsafeBufferPointer<UInt8>,
        into target: UnsafeMutableBufferPointer<UInt8>,
        _ seen: inout UInt32
    ) -> (read: Int, written: Int) {
        guard target.count >= leastRun, let text = source.baseAddress, let bytes = target.baseAddress else {
            return (0, 0)
        }
        var hasSigns: Int32 = 0
        // The target's length stands for as many groups, which the text has; nothing is written beyond it.
        let read = unsafe cbs_base64_run(text, target.count / 3 &* 4, bytes, target.count, &hasSigns)
        if hasSigns != 0 { seen |= standard }
        return (read, read / 4 &* 3)
    }

    /// Less is read by the table.
    private static let leastRun = 64

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
        // Appending without room would write to the storage that all empty arrays share.
        guard !bytes.isEmpty else { return }
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

    /// A character's value in the low six bits. Bit 30: only in the standard alphabet; bit 31: only in the URL-safe one;
    /// both: in none. So the or-ed entries of a text have both bits exactly when it is foreign or mixed.
    private static let decoding: [UInt32] = {
        var table = [UInt32](repeating: foreign, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt32(value) }
        table[Int(UInt8(ascii: "+"))] = standard | 62
        table[Int(UInt8(ascii: "/"))] = standard | 63
        table[Int(UInt8(ascii: "-"))] = urlSafe | 62
        table[Int(UInt8(ascii: "_"))] = urlSafe | 63
        return table
    }()

    private static let standard: UInt32 = 1 << 30
    private static let urlSafe: UInt32 = 1 << 31
    private static let foreign = standard | urlSafe
}
