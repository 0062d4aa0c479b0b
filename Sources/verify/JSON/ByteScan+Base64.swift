/// Escapes in the text of a base64 string, of which a sender may write every character as one.
extension ByteScan {
    /// Writes what a text stands for, as long as that may be base64; returns how many bytes.
    ///
    /// For a text that the parser has accepted it writes the same as ``unescape(_:_:)``.
    ///
    /// - Precondition: `target` has room for `text.count` bytes.
    /// - Returns: nil for an escape of what is in no base64, or a backslash that starts no escape.
    static func unescapeBase64(_ text: Span<UInt8>, into target: UnsafeMutableBufferPointer<UInt8>) -> Int? {
        guard let base = UnsafeMutableRawPointer(target.baseAddress) else { return nil }
        var (index, count) = (0, 0)
        // An escape is longer than what it stands for, so the output is never ahead of the input.
        let isWhole = unsafe text.withUnsafeBytes { source in
            while index < source.count {
                unsafe copySlashWords(source, &index, to: base, &count)
                while index < source.count, unsafe source[index] == 0x5C {
                    guard let escape = unsafe base64Escape(source, at: index) else { return false }
                    unsafe base.storeBytes(of: escape.byte, toByteOffset: count, as: UInt8.self)
                    index &+= escape.length
                    count &+= 1
                }
                guard index < source.count else { break }
                unsafe base.storeBytes(of: source[index], toByteOffset: count, as: UInt8.self)
                index &+= 1
                count &+= 1
            }
            return true
        }
        return isWhole ? count : nil
    }

    /// Copies words in which a backslash escapes nothing but slashes, and of the next one what is before its first
    /// backslash.
    ///
    /// - Precondition: `target` has room for all that is left of `source`.
    @inline(__always)
    private static func copySlashWords(
        _ source: UnsafeRawBufferPointer,
        _ index: inout Int,
        to target: UnsafeMutableRawPointer,
        _ count: inout Int
    ) {
        // 0x80 if a backslash is the last byte so far; it is not copied.
        var pending: UInt64 = 0
        // Eight bytes are loaded, and stored, only where eight are left.
        while index &+ 8 <= source.count {
            let stored = unsafe source.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let word = UInt64(littleEndian: stored)
            let backslashes = places(of: 0x5C, in: word)
            if backslashes | pending == 0 {
                unsafe target.storeBytes(of: stored, toByteOffset: count, as: UInt64.self)
                index &+= 8
                count &+= 8
                continue
            }
            guard escapesOnlySlashes(word, backslashes, pending: pending) else {
                guard pending == 0 else { break }
                let plain = backslashes.trailingZeroBitCount >> 3
                unsafe target.storeBytes(of: stored, toByteOffset: count, as: UInt64.self)
                index &+= plain
                count &+= plain
                return
            }
            count &+= unsafe copy(word, without: backslashes, to: target + count)
            index &+= 8
            pending = backslashes >> 56
        }
        // That backslash is looked at again, with what it escapes.
        index &-= Int(pending >> 7)
    }

    /// Writes the bytes of `word` but for the marked ones, of which no two are neighbours; returns how many.
    ///
    /// - Precondition: there is room for eight.
    @inline(__always)
    private static func copy(_ word: UInt64, without marks: UInt64, to target: UnsafeMutableRawPointer) -> Int {
        // A pair of bytes has one mark at most: on its first byte, which the second then replaces, or on its second.
        let first = marks & 0x0080_0080_0080_0080
        let replaced = (first << 9) &- (first >> 7)
        let pairs = word & ~replaced | (word >> 8) & 0x00FF_00FF_00FF_00FF & replaced
        let halved = (marks | marks >> 8) >> 7 & 0x0001_0001_0001_0001
        var count = 0
        for place in 0..<4 as Range<UInt64> {
            let pair = UInt16(truncatingIfNeeded: pairs >> (16 &* place))
            // The next pair overwrites the second byte of one that has a mark.
            unsafe target.storeBytes(of: pair.littleEndian, toByteOffset: count, as: UInt16.self)
            count &+= 2 &- Int(halved >> (16 &* place) & 1)
        }
        return count
    }

    /// The byte that the escape at `index`, a backslash, stands for, and the escape's length; nil unless that is a
    /// slash, or ASCII by its number.
    @inline(__always)
    private static func base64Escape(_ source: UnsafeRawBufferPointer, at index: Int) -> (byte: UInt8, length: Int)? {
        guard index &+ 2 <= source.count else { return nil }
        if unsafe source[index &+ 1] == UInt8(ascii: "/") { return (UInt8(ascii: "/"), 2) }
        // Six bytes are looked at only where six are left: \u0000 to \u007F.
        guard index &+ 6 <= source.count,
            unsafe UInt32(littleEndian: source.loadUnaligned(fromByteOffset: index, as: UInt32.self)) == 0x3030_755C
        else { return nil }
        let (high, low) = unsafe (source[index &+ 4] ^ 0x30, source[index &+ 5])
        guard high < 8, low &- 0x30 < 10 || (low | 0x20) &- 0x61 < 6 else { return nil }
        // A letter's low bits are its value less 9.
        return (high << 4 | (low & 0x0F) &+ (low >> 6) &* 9, 6)
    }
}
