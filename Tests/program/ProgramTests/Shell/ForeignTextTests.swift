internal import JSON
internal import Settings
internal import TestKit
internal import Testing

@testable internal import CommandFrame

/// What a device or a sender wrote, on its way to a terminal.
@Suite("Foreign text")
struct ForeignTextTests {
    /// Turns the line around, moves the cursor, ends the line, hides.
    static let texts = ["\u{202E}", "\u{9B}2J", "\u{85}", "\u{2028}", "\u{2029}", "\u{200B}", "\u{1B}[2J", "\u{E0041}"]

    private static func isSafe(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0.isVisible || $0 == "\n" }
    }

    /// The head of a short text is one byte.
    private static func cbor(text: String) -> [UInt8] { [0x60 + UInt8(text.utf8.count)] + Array(text.utf8) }
    private static func cbor(bytes: [UInt8]) -> [UInt8] { [0x58, UInt8(bytes.count)] + bytes }

    /// An assertion with an extension entry of this name and content.
    private static func assertion(_ name: String, _ content: String) -> [UInt8] {
        let data = [UInt8](repeating: 0, count: 32) + [0xC0, 0, 0, 0, 1]
        return [0xA2] + cbor(text: "signature") + cbor(bytes: [UInt8](repeating: 0, count: 24))
            + cbor(text: "authenticatorData") + cbor(bytes: data + [0xA1] + cbor(text: name) + cbor(text: content))
    }

    @Test(arguments: texts)
    func `inspect shows an object's own names and texts without what is invisible`(text: String) throws {
        let object = Base64.encode(Self.assertion("n\(text)", "a\(text)z"))
        let operand = String(decoding: object, as: UTF8.self)
        let plain = try Transcript.done(["inspect", operand])
        #expect(plain.output.contains("authData.extensions.n"))
        #expect(Self.isSafe(plain.output), "\(plain.output)")
        #expect(plain.output.split(separator: "\n").contains { $0.contains("extensions.n") && $0.contains("z") })
        let json = try Transcript.done(["inspect", "--json", operand])
        #expect(Self.isSafe(json.output), "\(json.output)")
        let field = try json.json["fields"]?.members.first { $0.name == Array("authData.extensions.n\(text)".utf8) }
        #expect(field?.value.string == "a\(text)z")
    }

    @Test func `an explanation shows a record's own texts without what is invisible`() throws {
        let fixture = try ReplayFixture(
            Self.texts.enumerated().map { offset, text in
                var value = JSONWriter()
                value.beginObject()
                value.member("path", "v1/projects/\(text)/apps/x:verifyAssertion")
                value.endObject()
                let key = Array(text.utf8)
                return RequestRecords.record(value.bytes, key: key, offset: Int64(offset), id: "id-\(text)")
            }
        )
        let lines = try fixture.replayed(["--explain", "-"])
        #expect(Self.isSafe(lines.output) && Self.isSafe(lines.error))
        for offset in Self.texts.indices {
            for more in [[], ["--json"]] {
                let shown = try fixture.inspect("0/\(offset)", more).output
                #expect(Self.isSafe(shown), "\(shown)")
            }
        }
    }

    @Test(arguments: texts)
    func `whatever a command prints, nothing invisible reaches the terminal`(text: String) {
        var (output, error) = ([UInt8](), [UInt8]())
        let console = Console(isTerminal: true, output: { output += $0 }, error: { error += $0 })
        console.print("a\(text)b\nc")
        console.printError("a\(text)b")
        #expect(Self.isSafe(String(decoding: output, as: UTF8.self)))
        #expect(Self.isSafe(String(decoding: error, as: UTF8.self)))
    }
}
