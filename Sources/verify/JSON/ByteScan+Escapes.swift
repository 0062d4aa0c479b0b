/// Runs of escapes, in separate loops: a text of nothing else must not cost more than other texts.
extension ByteScan {
    /// The index after the two-character escapes that follow each other from `start` on.
    static func endOfShortRun(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        // As many bytes are looked at as are left.
        unsafe bytes.withUnsafeBytes { raw in
            while index &+ 2 <= raw.count, unsafe raw[index] == 0x5C, unsafe JSONEscape.short(raw[index &+ 1]) != nil {
                index &+= 2
            }
        }
        return index
    }

    /// The index after the words from `start` on in which every byte is plain or part of an escaped slash.
    static func endOfSlashRun(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        // 0x80 if a backslash is the last byte so far.
        var pending: UInt64 = 0
        // Eight bytes are loaded only where eight are left.
        unsafe bytes.withUnsafeBytes { raw in
            while index &+ 8 <= raw.count {
                let word = unsafe UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let backslashes = places(of: 0x5C, in: word)
                guard !hasStop(word), escapesOnlySlashes(word, backslashes, pending: pending) else { return }
                index &+= 8
                pending = backslashes >> 56
            }
        }
        return index &- Int(pending >> 7)
    }

    /// Writes what the two-character escapes from `source[index...]` on stand for; returns how many there are.
    ///
    /// - Precondition: `target` has a byte of room for each of them.
    @inline(__always)
    private static func copyShortRun(
        _ source: UnsafeRawBufferPointer,
        from start: Int,
        to target: UnsafeMutableRawPointer
    ) -> Int {
        var (index, count) = (start, 0)
        // Two characters are looked at only where two are left.
        while index &+ 2 <= source.count, unsafe source[index] == 0x5C,
            let byte = unsafe JSONEscape.short(source[index &+ 1])
        {
            unsafe target.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
            index &+= 2
            count &+= 1
        }
        return count
    }

    /// Copies a string's content up to its closing quote, two-character escapes resolved; returns how many bytes.
    ///
    /// - Precondition: `target` has room for `text.count - start` bytes.
    /// - Parameter stop: the place of the closing quote; stays nil where there is none, or another escape or a control
    ///   character comes before it.
    static func unescapeString(
        _ text: Span<UInt8>,
        from start: Int,
        into target: UnsafeMutableBufferPointer<UInt8>,
        stop: inout Int?
    ) -> Int {
        guard let base = UnsafeMutableRawPointer(target.baseAddress) else { return 0 }
        var (index, count) = (start, 0)
        unsafe text.withUnsafeBytes { source in
            while true {
                let run = unsafe copyRun(source, from: index, to: base + count, escaping: true)
                index &+= run
                count &+= run
                guard index < source.count else { return }
                if unsafe source[index] == UInt8(ascii: "\"") {
                    stop = index
                    return
                }
                let escapes = unsafe copyShortRun(source, from: index, to: base + count)
                guard escapes > 0 else { return }
                index &+= 2 &* escapes
                count &+= escapes
            }
        }
        return count
    }

    /// The bytes of the string whose text stands in `range` of `document`, its escapes resolved.
    ///
    /// - Precondition: the parser has accepted it: each backslash starts a whole escape, surrogates come in pairs.
    static func unescape(_ document: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
        let text = document.extracting(range)
        // An escape is never shorter than what it stands for, so the output is never ahead of the input.
        return unsafe array(text.count) { target in
            guard let base = UnsafeMutableRawPointer(target.baseAddress) else { return 0 }
            var (index, count) = (0, 0)
            unsafe text.withUnsafeBytes { source in
                while true {
                    let run = unsafe copyRun(source, from: index, to: base + count, escaping: false)
                    index &+= run
                    count &+= run
                    guard index < source.count else { return }
                    let start = index
                    let escapes = unsafe copyShortRun(source, from: index, to: base + count)
                    index &+= 2 &* escapes
                    count &+= escapes
                    unsafe copyUnicodeRun(source, &index, to: base, &count)
                    precondition(index > start, "the parser has accepted the escape")
                }
            }
            return count
        }
    }

    /// Writes what the escapes of four digits from `index` on stand for.
    ///
    /// - Precondition: they are well-formed, and there is room for half of their bytes.
    @inline(__always)
    private static func copyUnicodeRun(
        _ source: UnsafeRawBufferPointer,
        _ index: inout Int,
        to target: UnsafeMutableRawPointer,
        _ count: inout Int
    ) {
        // Six bytes are looked at only where six are left.
        while index &+ 6 <= source.count, unsafe source[index] == 0x5C,
            unsafe source[index &+ 1] == UInt8(ascii: "u")
        {
            var scalar = unsafe unit(source, at: index &+ 2)
            index &+= 6
            // A high surrogate: its partner follows.
            if scalar & 0xFC00 == 0xD800, index &+ 6 <= source.count {
                let low = unsafe unit(source, at: index &+ 2)
                scalar = 0x10000 &+ ((scalar & 0x3FF) << 10 | low & 0x3FF)
                index &+= 6
            }
            JSONEscape.forEachUTF8Byte(of: scalar) { byte in
                // At most three bytes for six, or four for twelve.
                unsafe target.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
                count &+= 1
            }
        }
    }

    /// The value of four hexadecimal digits, which are there.
    @inline(__always)
    private static func unit(_ source: UnsafeRawBufferPointer, at index: Int) -> UInt32 {
        let digits = unsafe UInt32(bigEndian: source.loadUnaligned(fromByteOffset: index, as: UInt32.self))
        // A letter's low bits are its value less 9.
        let nibbles = (digits & 0x0F0F_0F0F) &+ (digits >> 6 & 0x0101_0101) &* 9
        return nibbles >> 12 & 0xF000 | nibbles >> 8 & 0xF00 | nibbles >> 4 & 0xF0 | nibbles & 0xF
    }
}
