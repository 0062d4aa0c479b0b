import CBOR
import Testing

@Suite struct CBORWriterTests {
    @Test(
        arguments: [
            (0, "00", "20"), (23, "17", "37"), (24, "1818", "3818"), (255, "18ff", "38ff"), (256, "190100", "390100"),
            (65_535, "19ffff", "39ffff"), (65_536, "1a00010000", "3a00010000"),
            (0xFFFF_FFFF, "1affffffff", "3affffffff"),
            (0x1_0000_0000, "1b0000000100000000", "3b0000000100000000"),
            (.max, "1bffffffffffffffff", "3bffffffffffffffff"),
        ] as [(UInt64, String, String)]
    )
    func `numbers take the shortest head`(value: UInt64, unsigned: String, negative: String) {
        var writer = CBORWriter()
        writer.unsigned(value)
        writer.negative(value)
        #expect(writer.bytes == hex(unsigned) + hex(negative))
    }

    @Test func `every kind of item is written as RFC 8949 spells it`() {
        var writer = CBORWriter()
        writer.map(2)
        writer.text("ä")
        writer.array(3)
        writer.bool(true)
        writer.bool(false)
        writer.null()
        writer.bytes([])
        writer.bytes([UInt8](repeating: 7, count: 24))
        #expect(writer.bytes == hex("a2 62c3a4 83 f5 f4 f6 40 5818" + String(repeating: "07", count: 24)))
        #expect(fault(writer.bytes) == nil)
    }

    @Test(arguments: [0, 1, 23, 24, 255, 256, 65_535, 65_536])
    func `strings of any length are read back`(count: Int) throws {
        var writer = CBORWriter()
        let content = [UInt8](repeating: 0x61, count: count)
        writer.array(2)
        writer.bytes(content)
        writer.text(String(decoding: content, as: UTF8.self))
        guard case .array(let items) = try read(writer.bytes), items.count == 2,
            case .bytes(let bytes) = items[0], case .text(let text) = items[1]
        else {
            Issue.record("two strings")
            return
        }
        #expect(Array(writer.bytes[bytes]) == content)
        #expect(Array(writer.bytes[text]) == content)
    }
}
