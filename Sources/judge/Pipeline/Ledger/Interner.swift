/// Numbers for the few texts that many keys share (app names, Apple App IDs); it compares their bytes.
/// 0 stands for none.
struct Interner {
    private static let recentCount = 64

    /// The highest number that is given.
    private let mostTexts: Int
    private var texts: [(text: String, utf8: [UInt8])] = [("", [])]
    private var numbers: [[UInt8]: UInt32] = [:]
    /// The numbers of texts asked for lately, by some of their bytes: most keys are of a few apps.
    private var recent = [UInt32](repeating: 0, count: recentCount)

    init(mostTexts: Int) { self.mostTexts = mostTexts }

    /// - Returns: nil for bytes that are not UTF-8, or when all numbers are in use.
    mutating func number(of utf8: Span<UInt8>) -> UInt32? {
        let place = Self.place(of: utf8)
        let candidate = recent[place]
        if candidate != 0, Self.isSame(texts[Int(candidate)].utf8, utf8) { return candidate }
        let found = findOrAdd(utf8)
        if let found { recent[place] = found }
        return found
    }

    private mutating func findOrAdd(_ utf8: Span<UInt8>) -> UInt32? {
        let bytes = utf8.indices.map { utf8[$0] }
        if let number = numbers[bytes] { return number }
        guard texts.count <= mostTexts, let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let number = UInt32(texts.count)
        texts.append((text, bytes))
        numbers[bytes] = number
        return number
    }

    func text(_ number: UInt32) -> String? { number == 0 ? nil : texts[Int(number)].text }

    private static func place(of utf8: Span<UInt8>) -> Int {
        var hash = utf8.count
        for index in max(0, utf8.count - 4)..<utf8.count { hash = hash &* 31 &+ Int(utf8[index]) }
        return (hash & .max) % recentCount
    }

    private static func isSame(_ left: [UInt8], _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        var differs: UInt8 = 0
        for index in left.indices { differs |= left[index] ^ right[index] }
        return differs == 0
    }
}
