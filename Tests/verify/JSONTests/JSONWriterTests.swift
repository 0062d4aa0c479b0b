import Foundation
import JSON
import Testing

private func text(_ writer: JSONWriter) -> String { String(decoding: writer.bytes, as: UTF8.self) }

@Suite struct JSONWriterTests {
    @Test func `commas separate members and elements, and stand nowhere else`() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("a")
        writer.value(1)
        writer.key("list")
        writer.beginArray()
        writer.beginObject()
        writer.endObject()
        writer.beginArray()
        writer.endArray()
        writer.null()
        writer.value(true)
        writer.value(false)
        writer.raw(Array("{\"r\":[]}".utf8))
        writer.base64([0, 0xFF])
        writer.endArray()
        writer.key(named: "é\"")
        writer.string("x")
        writer.endObject()
        #expect(text(writer) == #"{"a":1,"list":[{},[],null,true,false,{"r":[]},"AP8="],"é\"":"x"}"#)
    }

    @Test func `integers of every width and sign are written in full`() {
        var writer = JSONWriter()
        writer.beginArray()
        writer.value(Int64.min)
        writer.value(UInt64.max)
        writer.value(Int8(-1))
        writer.value(0)
        writer.endArray()
        #expect(text(writer) == "[-9223372036854775808,18446744073709551615,-1,0]")
    }

    @Test func `only what must be escaped is escaped`() {
        var writer = JSONWriter()
        writer.string("\"\\/\u{8}\u{C}\n\r\t\u{0}\u{1F}\u{1b}\u{7F}é😀</script>")
        #expect(text(writer) == "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001F\\u001B\u{7F}é😀</script>\"")
    }

    @Test(arguments: 0..<20)
    func `every byte at every place of a string survives a round trip`(_ place: Int) throws {
        for byte in UInt8(0)..<0x80 {
            var content = [UInt8](repeating: UInt8(ascii: "a"), count: 20)
            content[place] = byte
            content.append(contentsOf: [byte, byte])
            var writer = JSONWriter(capacity: 0)
            writer.string(utf8: content)
            #expect(try JSONDocument(parsing: writer.bytes).root.stringBytes == content)
        }
    }

    @Test(arguments: 0..<40)
    func `quotes and backslashes are escaped wherever they cluster`(_ count: Int) {
        var dice = Dice(UInt64(count) &+ 7)
        for _ in 0..<200 {
            let content = (0..<count).map { _ in Array("\"\\,:ab\n".utf8)[dice(7)] }
            let escaped = content.flatMap { byte -> [UInt8] in
                switch byte {
                case UInt8(ascii: "\n"): Array("\\n".utf8)
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
                default: [byte]
                }
            }
            var writer = JSONWriter(capacity: 0)
            writer.string(validUTF8: content)
            #expect(writer.bytes == [0x22] + escaped + [0x22])
        }
    }

    @Test func `syntax stands as it is written, and a restarted writer begins anew`() {
        var writer = JSONWriter()
        for _ in 0..<2 {
            writer.restart()
            writer.syntax("{\"a\":")
            writer.value(Int32(-1))
            writer.syntax(",\"b\":{\"c\":true}", endsValue: true)
            writer.key("d")
            writer.value(UInt32.max)
            writer.endObject()
        }
        #expect(text(writer) == #"{"a":-1,"b":{"c":true},"d":4294967295}"#)
    }

    @Test func `bytes that are not UTF-8 are replaced`() {
        var writer = JSONWriter()
        writer.string(utf8: [0x61, 0xFF, 0x22, 0xC3])
        #expect(text(writer) == "\"a\u{FFFD}\\\"\u{FFFD}\"")
    }

    @Test func `Foundation reads what is written`() throws {
        let strings = ["", "\u{0}\u{1}\u{1F}", "é\"\\\n😀", String(repeating: "\"", count: 100)]
        var writer = JSONWriter()
        writer.beginArray()
        for string in strings { writer.string(string) }
        writer.endArray()
        #expect(try JSONDecoder().decode([String].self, from: Data(writer.bytes)) == strings)
    }

    @Test func `lines are appended to the buffer's content`() {
        var buffer = Array("first\n".utf8)
        for number in 0..<2 {
            var writer = JSONWriter(appendingTo: buffer)
            writer.beginArray()
            writer.value(number)
            writer.endArray()
            writer.newline()
            buffer = writer.takeBytes()
            #expect(writer.bytes.isEmpty)
        }
        #expect(String(decoding: buffer, as: UTF8.self) == "first\n[0]\n[1]\n")
    }

    @Test func `a buffer reserves space for the next write, however much it holds`() {
        var buffer = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        for index in 0..<100 {
            var writer = JSONWriter(appendingTo: buffer)
            writer.value(index)
            #expect(writer.room <= 4_096)
            buffer = writer.takeBytes()
        }
        #expect(buffer.count == (1 << 20) + 190)
    }
}
