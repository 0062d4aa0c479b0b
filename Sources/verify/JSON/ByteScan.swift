internal import CByteScan

/// Eight string bytes at a time: the module's hot loops, and with ``Base64`` the only places that use raw memory.
///
/// Every load and store below stays inside a buffer whose bounds were compared on the line before it. Words are read
/// as little-endian, so the lowest byte of a word is the first one in memory.
enum ByteScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// The high bit of the first zero byte, and perhaps of bytes after it.
    @inline(__always)
    private static func firstZero(_ word: UInt64) -> UInt64 { (word &- ones) & ~word }

    /// Whether a byte of `word` is a quote, a control character, or from 0x80 on.
    @inline(__always)
    static func hasStop(_ word: UInt64) -> Bool {
        (word | firstZero(word ^ (ones &* 0x22)) | ((word &- ones &* 0x20) & ~word)) & highBits != 0
    }

    /// The high bits of the bytes of `word` that are `byte`, which is below 0x80, and of no others.
    @inline(__always)
    static func places(of byte: UInt8, in word: UInt64) -> UInt64 {
        let rest = word ^ (ones &* UInt64(byte))
        // Below 0x80 no sum leaves its byte.
        return ~((rest & ~highBits) &+ ~highBits | rest) & highBits
    }

    /// Whether each backslash of `word` but one at its end escapes a slash, and so does the byte before the word.
    ///
    /// - Parameters:
    ///   - backslashes: their places.
    ///   - pending: 0x80 if the byte before the word is a backslash, else 0.
    @inline(__always)
    static func escapesOnlySlashes(_ word: UInt64, _ backslashes: UInt64, pending: UInt64) -> Bool {
        (backslashes << 8 | pending) & ~places(of: UInt8(ascii: "/"), in: word) == 0
    }

    /// A byte that stands for itself in a JSON string, whatever its neighbours.
    @inline(__always)
    static func isPlain(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x80 && byte != 0x22 && byte != 0x5C }

    /// The index of the first byte at or after `start` that is not a plain string byte (quote, backslash, control
    /// character, or from 0x80 on); `bytes.count` if there is none.
    @inline(__always)
    static func endOfPlainRun(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        // Eight bytes are loaded only where eight are left.
        unsafe bytes.withUnsafeBytes { raw in
            while index &+ 8 <= raw.count {
                let word = unsafe UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let stops =
                    word | firstZero(word ^ (ones &* 0x22)) | firstZero(word ^ (ones &* 0x5C))
                    | ((word &- ones &* 0x20) & ~word)
                let marks = stops & highBits
                if marks != 0 {
                    index &+= marks.trailingZeroBitCount >> 3
                    return
                }
                index &+= 8
                // What is plain for so long is likely an object in base64. The words go on after its run.
                if index &- start == runStart, raw.count &- index >= leastRun {
                    index &+= unsafe plainRun(raw, from: index)
                }
            }
            while index < raw.count, unsafe isPlain(raw[index]) { index &+= 1 }
        }
        return index
    }

    @inline(__always)
    private static func plainRun(_ raw: UnsafeRawBufferPointer, from start: Int) -> Int {
        guard let base = raw.baseAddress else { return 0 }
        // As many bytes are left.
        return unsafe cbs_plain_run(base.advanced(by: start).assumingMemoryBound(to: UInt8.self), raw.count &- start)
    }

    private static let runStart = 64
    private static let leastRun = 128

    /// The index after the escapes of four hexadecimal digits that follow each other from `start` on, surrogates in
    /// pairs; it stops at a surrogate without its partner.
    static func endOfUnicodeRun(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        unsafe bytes.withUnsafeBytes { raw in
            while let digits = unsafe unicodeDigits(raw, at: index) {
                let second = digits >> 8 & 0xFF
                // D0 to D7 are not surrogates.
                if digits & 0xFF != 0x64 || second < 0x38 {
                    index &+= 6
                    continue
                }
                // D8 to DB, then DC to DF.
                guard second < 0x63, let low = unsafe unicodeDigits(raw, at: index &+ 6), low & 0xFF == 0x64,
                    low >> 8 & 0xFF >= 0x63, low >> 8 & 0xFF < 0x67
                else { return }
                index &+= 12
            }
        }
        return index
    }

    /// The digits of the escape at `index`, the first one lowest, letters in lower case; nil if there is no such escape.
    @inline(__always)
    private static func unicodeDigits(_ raw: UnsafeRawBufferPointer, at index: Int) -> UInt32? {
        // Six bytes are looked at only where six are left.
        guard index &+ 6 <= raw.count, unsafe raw[index] == 0x5C, unsafe raw[index &+ 1] == UInt8(ascii: "u") else {
            return nil
        }
        let digits = unsafe UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: index &+ 2, as: UInt32.self))
        let lower = digits | 0x2020_2020
        // The high bits of bytes from 30 to 39, or from 61 to 66. Below 80 no sum leaves its byte.
        let decimal = (digits &+ 0x5050_5050) & ~(digits &+ 0x4646_4646)
        let letter = (lower &+ 0x1F1F_1F1F) & ~(lower &+ 0x1919_1919)
        guard digits & 0x8080_8080 == 0, (decimal | letter) & 0x8080_8080 == 0x8080_8080 else { return nil }
        return lower
    }

    /// The index after the well-formed UTF-8 sequences of several bytes that follow each other from `start` on, or
    /// after some of them; `start` if the first one is another.
    static func endOfMultibyteRun(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        unsafe bytes.withUnsafeBytes { raw in
            // Four pairs at a time: C2 to DF, then 80 to BF.
            while index &+ 8 <= raw.count {
                let word = unsafe UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let leads = (word & 0x001E_001E_001E_001E) &+ 0x00FE_00FE_00FE_00FE
                guard word & 0xC0E0_C0E0_C0E0_C0E0 == 0x80C0_80C0_80C0_80C0,
                    leads & 0x0100_0100_0100_0100 == 0x0100_0100_0100_0100
                else { break }
                index &+= 8
            }
            // Two sequences of four bytes at a time: F0 to F4, then 80 to BF three times, of planes 1 to 16.
            while index &+ 8 <= raw.count {
                let word = unsafe UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let planes = (word & 0x0000_0007_0000_0007) << 2 | (word >> 12) & 0x0000_0003_0000_0003
                guard word & 0xC0C0_C0F8_C0C0_C0F8 == 0x8080_80F0_8080_80F0,
                    (planes &- 0x0000_0001_0000_0001) & 0xFFFF_FFF0_FFFF_FFF0 == 0
                else { break }
                index &+= 8
            }
            while index &+ 3 <= raw.count {
                let (first, second, third) = unsafe (raw[index], raw[index &+ 1], raw[index &+ 2])
                guard second & 0xC0 == 0x80 else { return }
                switch first {
                case 0xC2...0xDF: index &+= 2
                // Not E0 and ED, whose second byte has a smaller range.
                case 0xE1...0xEC, 0xEE...0xEF:
                    guard third & 0xC0 == 0x80 else { return }
                    index &+= 3
                default: return
                }
            }
        }
        return index
    }

    /// An array of what `body` writes into room for `most` bytes; it returns how many those are.
    ///
    /// Uses the stack: an array of a known size and content is made without asking for its type at run time.
    @inline(__always)
    static func array(_ most: Int, _ body: (UnsafeMutableBufferPointer<UInt8>) -> Int) -> [UInt8] {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: most) { room in
            let count = unsafe body(room)
            return unsafe [UInt8](UnsafeMutableBufferPointer(rebasing: room[..<count]))
        }
    }

    /// Whether both have the same bytes.
    @inline(__always)
    static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        // Eight bytes are loaded only where eight are left, in both.
        return unsafe left.withUnsafeBytes { left in
            unsafe right.withUnsafeBytes { right in
                var index = 0
                while index &+ 8 <= left.count {
                    let one = unsafe left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    guard unsafe one == right.loadUnaligned(fromByteOffset: index, as: UInt64.self) else {
                        return false
                    }
                    index &+= 8
                }
                while index < left.count {
                    guard unsafe left[index] == right[index] else { return false }
                    index &+= 1
                }
                return true
            }
        }
    }

    /// The index of the first byte from 0x80 on at or after `start`; `bytes.count` if there is none.
    static func endOfASCII(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        // Eight bytes are loaded only where eight are left.
        unsafe bytes.withUnsafeBytes { raw in
            while index &+ 8 <= raw.count {
                let word = unsafe UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                let marks = word & highBits
                if marks != 0 {
                    index &+= marks.trailingZeroBitCount >> 3
                    return
                }
                index &+= 8
            }
            while index < raw.count, unsafe raw[index] < 0x80 { index &+= 1 }
        }
        return index
    }

    /// Copies bytes from `source[index...]` to `target` up to the first that is a backslash or, with `escaping`, would
    /// need an escape; returns how many.
    ///
    /// - Precondition: `target` has room for `source.count - index` bytes.
    @inline(__always)
    static func copyRun(
        _ source: UnsafeRawBufferPointer,
        from start: Int,
        to target: UnsafeMutableRawPointer,
        escaping: Bool
    ) -> Int {
        var done = 0
        while start &+ done &+ 8 <= source.count {
            // Eight bytes are left in the source, hence room for eight in the target.
            let stored = unsafe source.loadUnaligned(fromByteOffset: start &+ done, as: UInt64.self)
            unsafe target.storeBytes(of: stored, toByteOffset: done, as: UInt64.self)
            let word = UInt64(littleEndian: stored)
            var stops = firstZero(word ^ (ones &* 0x5C))
            if escaping { stops |= firstZero(word ^ (ones &* 0x22)) | ((word &- ones &* 0x20) & ~word) }
            let marks = stops & highBits
            if marks != 0 { return done &+ marks.trailingZeroBitCount >> 3 }
            done &+= 8
            if done == runStart, source.count &- start &- done >= leastRun {
                let from = start &+ done
                let count = unsafe plainRun(source, from: from)
                let run = unsafe UnsafeRawBufferPointer(rebasing: source[from..<from &+ count])
                // The target has room for the rest of the source.
                unsafe UnsafeMutableRawBufferPointer(start: target + done, count: count).copyMemory(from: run)
                done &+= count
            }
        }
        while start &+ done < source.count {
            let byte = unsafe source[start &+ done]
            if byte == 0x5C || (escaping && (byte == 0x22 || byte < 0x20)) { return done }
            unsafe target.storeBytes(of: byte, toByteOffset: done, as: UInt8.self)
            done &+= 1
        }
        return done
    }

    @inline(__always)
    private static func isUnescaped(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x22 && byte != 0x5C }

    /// Writes the eight bytes from `index` on, quotes and backslashes escaped.
    ///
    /// - Precondition: eight bytes are there, and room for twice as many.
    /// - Returns: false, and nothing is written, where one needs another escape or none needs any.
    @inline(__always)
    private static func copyQuoted(
        _ source: UnsafeRawBufferPointer,
        _ index: Int,
        to target: UnsafeMutableRawPointer,
        _ count: inout Int
    ) -> Bool {
        let word = unsafe UInt64(littleEndian: source.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        let quotes = firstZero(word ^ (ones &* 0x22)) | firstZero(word ^ (ones &* 0x5C))
        guard quotes & highBits != 0, (word &- ones &* 0x20) & ~word & highBits == 0 else { return false }
        var rest = word
        for _ in 0..<8 {
            let byte = UInt8(truncatingIfNeeded: rest)
            rest >>= 8
            // Overwritten by the byte itself if that needs no escape.
            unsafe target.storeBytes(of: 0x5C, toByteOffset: count, as: UInt8.self)
            count &+= byte == 0x22 || byte == 0x5C ? 1 : 0
            unsafe target.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
            count &+= 1
        }
        return true
    }

    /// Writes `text` as it stands between the quotes of a JSON string; returns how many bytes that are.
    ///
    /// - Precondition: `target` has six bytes of room for each byte of `text`.
    static func writeEscaped(_ text: Span<UInt8>, into target: UnsafeMutableBufferPointer<UInt8>) -> Int {
        guard let base = UnsafeMutableRawPointer(target.baseAddress) else { return 0 }
        var (index, count) = (0, 0)
        unsafe text.withUnsafeBytes { source in
            while true {
                let run = unsafe copyRun(source, from: index, to: base + count, escaping: true)
                index &+= run
                count &+= run
                // Quotes come in clusters: the bytes around one are written without looking for the next.
                while index &+ 8 <= source.count, unsafe copyQuoted(source, index, to: base, &count) { index &+= 8 }
                guard index < source.count else { return }
                guard unsafe !isUnescaped(source[index]) else { continue }
                let escape = unsafe JSONEscape.written(for: source[index])
                index &+= 1
                for shift in 0..<escape.count {
                    let byte = UInt8(truncatingIfNeeded: escape.word >> UInt64(8 &* shift))
                    unsafe base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
                    count &+= 1
                }
            }
        }
        return count
    }
}
