import JSON

/// Texts that may appear on the tokens topic only, in every possible spelling.
struct Secrets {
    /// By their first eight bytes, so that one pass over a text finds any of them.
    private var needles: [UInt64: Set<[UInt8]>] = [:]
    private(set) var count = 0

    static func standard(_ bytes: [UInt8]) -> String { String(decoding: Base64.encode(bytes), as: UTF8.self) }

    /// The bytes as they are, in hex, and in both alphabets of base64 at each of the three offsets that a text around
    /// them could give.
    mutating func add(_ bytes: [UInt8]) {
        precondition(bytes.count >= 16, "what is shorter could appear by chance")
        insert(bytes)
        let digits = Array("0123456789abcdef".utf8)
        insert(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
        for shift in 0..<3 {
            let part = Array(bytes.dropFirst(shift))
            let whole = Array(part.prefix(part.count / 3 * 3))
            insert(Base64.encode(whole))
            insert(Base64.encodeURL(whole))
        }
    }

    /// A text, and what its base64 hides.
    mutating func add(text: String) { add(Array(text.utf8)) }

    private mutating func insert(_ needle: [UInt8]) {
        let start = needle.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        if needles[start, default: []].insert(needle).inserted { count += 1 }
    }

    /// Any secret found in `bytes`; JSON's `\/` is read as `/` too.
    func firstFound(in bytes: [UInt8]) -> [UInt8]? { find(in: bytes) ?? find(in: Self.unescaped(bytes)) }

    private func find(in bytes: [UInt8]) -> [UInt8]? {
        var window: UInt64 = 0
        for index in bytes.indices {
            window = window << 8 | UInt64(bytes[index])
            guard index >= 7, let found = needles[window] else { continue }
            let rest = bytes[(index - 7)...]
            if let needle = found.first(where: { rest.starts(with: $0) }) { return needle }
        }
        return nil
    }

    private static func unescaped(_ bytes: [UInt8]) -> [UInt8] {
        var plain: [UInt8] = []
        for byte in bytes {
            if byte == UInt8(ascii: "/"), plain.last == UInt8(ascii: "\\") { plain.removeLast() }
            plain.append(byte)
        }
        return plain
    }
}
