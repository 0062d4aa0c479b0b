import JSON
import Testing

/// Base64 is decoded from the text as it is written: the same as from what its escapes stand for.
@Suite struct EscapedBase64Tests {
    /// By way of the text without its escapes; nil too where the parser refuses the text.
    private static func slowly(_ text: [UInt8]) -> [UInt8]? {
        let document = try? JSONDocument(parsing: [0x22] + text + [0x22])
        return document?.root.stringBytes.flatMap { Base64.decode($0) }
    }

    /// A text's character as it may be written; `style` allows more kinds the higher it is.
    private static func written(_ byte: UInt8, _ style: Int, _ dice: inout Dice) -> [UInt8] {
        let hex = String(byte, radix: 16)
        let digits = hex.count == 1 ? "0" + hex : hex
        return switch dice(style) {
        case 1: byte == UInt8(ascii: "/") ? Array("\\/".utf8) : [byte]
        case 2: Array("\\u00\(digits)".utf8)
        case 3: Array("\\u00\(digits.uppercased())".utf8)
        default: [byte]
        }
    }

    private static let strange = [
        "\\n", "\\\"", "\\\\", "\\", "\\u", "\\u002", "\\u00g1", "\\u0g41", "\\x41", "\\u00e9", "\\u0141", "\\u2028",
        "\\ud83d\\ude00", "\\ud800", "\\udc00", "\\u0000", "\\u007f", "\\u0080", "é", "\"", "\n", " ", "\\u0020",
    ]

    @Test(arguments: 0..<16)
    func `random and damaged texts decode as they do without their escapes`(seed: Int) {
        var dice = Dice(UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        var (decoded, refused) = (0, 0)
        for _ in 0..<1_500 {
            let bytes = (0..<dice(24)).map { _ in UInt8(dice(3) == 0 ? 0xFF : dice(256)) }
            let url = dice(3) == 0
            var plain = url ? Base64.encodeURL(bytes) : Base64.encode(bytes)
            if dice(3) == 0 { plain = plain.filter { $0 != UInt8(ascii: "=") } }
            if dice(8) == 0, !plain.isEmpty { plain[dice(plain.count)] = Array("+-=/A".utf8)[dice(5)] }
            let style = 1 + dice(4)
            var text = plain.flatMap { Self.written($0, style, &dice) }
            for _ in 0..<(dice(3) == 0 ? 1 + dice(2) : 0) {
                text.insert(contentsOf: Array(Self.strange[dice(Self.strange.count)].utf8), at: dice(text.count + 1))
            }
            if dice(4) == 0, !text.isEmpty { text[dice(text.count)] = UInt8(dice(256)) }
            if dice(8) == 0 { text = Array(text.prefix(dice(text.count + 1))) }
            let result = Base64.decode(escaped: text.span)
            #expect(result == Self.slowly(text), "\(String(decoding: text, as: UTF8.self))")
            if result == nil { refused += 1 } else { decoded += 1 }
        }
        #expect(decoded > 400 && refused > 200)
    }

    /// Of each kind that a reader may tell apart.
    private static let kinds: [UInt8] =
        Array("\\/u0189:@AFGafgnr=+-_\"~ ".utf8) + [0x00, 0x1F, 0x7F, 0x80, 0xC3, 0xFF]

    @Test(arguments: ["\\/", "\\/A", "\\/AA", "A\\/AAAAAA", "\\u002B", "\\u002fA", "\\/\\u0041", "A\\/\\u0041"])
    func `every kind of byte counts at every place of a text of escapes`(pattern: String) {
        let part = Array(pattern.utf8)
        for skipped in 0..<8 {
            let text = [UInt8](repeating: UInt8(ascii: "Q"), count: skipped) + (0..<5).flatMap { _ in part }
            for place in text.indices {
                for byte in Self.kinds {
                    var text = text
                    text[place] = byte
                    guard Base64.decode(escaped: text.span) == Self.slowly(text) else {
                        Issue.record("\(text)")
                        return
                    }
                }
            }
        }
    }

    @Test(arguments: ["QQ==", "QQ", "QUI=", "QUJD", "", "+/+/", "-_-_", "Q", "QR==", "QQ=", "=QQ=", "+A-A"])
    func `padding and signs may be escaped`(plain: String) {
        for style in 1...4 {
            for seed in 0..<20 {
                var dice = Dice(UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1)
                let text = plain.utf8.flatMap { Self.written($0, style, &dice) }
                #expect(Base64.decode(escaped: text.span) == Base64.decode(Array(plain.utf8)))
            }
        }
    }

    @Test func `a member is read from its escapes`() throws {
        let node = try JSONDocument(parsing: Array("{\"a\":\"\\/\\u002b\\u0038\\u003D\",\"b\":\"\\n\"}".utf8)).root
        #expect(node["a"]?.base64Bytes == [0xFF, 0xEF])
        #expect(node["b"]?.stringBytes == [0x0A] && node["b"]?.base64Bytes == nil)
    }
}

/// A generator of its own, so that a seed gives the same texts everywhere.
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state
    }

    mutating func callAsFunction(_ bound: Int) -> Int { Int(next() >> 33) % bound }
}
