/// Escapes of any kind among plain bytes, in any order: judged in words, since no branch could foresee what comes next.
extension ByteScan {
    private static let every: UInt64 = 0x0101_0101_0101_0101
    private static let odd: UInt64 = 0x0100_0100_0100_0100

    /// The state that a word hands to the next one.
    private struct Open {
        /// 1 if the next byte is escaped.
        var escaped: UInt64 = 0
        /// The high bits of the bytes `u` of the last word's escapes.
        var unicode: UInt64 = 0

        /// How many bytes of an escape stand before the next word.
        var count: Int {
            guard escaped == 0 else { return 1 }
            // Four digits follow a `u`.
            guard unicode >> 32 != 0 else { return 0 }
            return 2 &+ unicode.leadingZeroBitCount >> 3
        }
    }

    /// The index after the escapes, and the plain bytes between them, from `start` on; or after some of them. It stops
    /// at escaped surrogates, and where eight bytes stand for themselves.
    ///
    /// - Parameter start: no escape has begun before it.
    static func endOfMixedRun(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var (index, open) = (start, Open())
        // Eight bytes are loaded only where eight are left.
        unsafe bytes.withUnsafeBytes { raw in
            while index &+ 8 <= raw.count {
                let word = unsafe UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                guard let next = after(word, open) else { return }
                open = next
                index &+= 8
            }
        }
        return index &- open.count
    }

    /// - Returns: nil for a word with a byte that may not stand there, or without any part of an escape.
    @inline(__always)
    private static func after(_ word: UInt64, _ open: Open) -> Open? {
        let backslashes = places(of: 0x5C, in: word)
        // Every second one of adjacent backslashes is escaped: the borrow goes through the whole row.
        let marks = backslashes >> 7
        let row = marks & ~open.escaped
        let code = ((row << 8 | odd) &- row) ^ odd
        let begins = code & marks
        let kinds = ((code ^ (marks | open.escaped)) & every) << 7
        let quotes = places(of: 0x22, in: word)
        // b and r, f and n, t and u differ in one bit.
        let known =
            quotes | backslashes | places(of: 0x2F, in: word) | places(of: 0x72, in: word | every << 4)
            | places(of: 0x6E, in: word | every << 3) | places(of: 0x75, in: word | every)
        let unicode = kinds & places(of: 0x75, in: word)
        let first = unicode << 8 | open.unicode >> 56
        let digits =
            first | unicode << 16 | open.unicode >> 48 | unicode << 24 | open.unicode >> 40 | unicode << 32
            | open.unicode >> 32
        let lower = word | every << 5
        // The high bits of bytes from 30 to 39, or from 61 to 66. Below 80 no sum leaves its byte.
        let decimal = (word &+ every &* 0x50) & ~(word &+ every &* 0x46)
        let letter = (lower &+ every &* 0x1F) & ~(lower &+ every &* 0x19)
        // D8 to DF are surrogates; D0 to D7 are left to others too.
        let wrong =
            word | (word &- every << 5) & ~word | quotes & ~kinds | kinds & ~known | digits & ~(decimal | letter)
            | first & places(of: 0x64, in: lower)
        guard wrong & every << 7 == 0, backslashes | kinds | digits != 0 else { return nil }
        return Open(escaped: begins >> 56, unicode: unicode)
    }
}
