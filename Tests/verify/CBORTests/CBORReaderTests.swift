import CBOR
import Testing

@Suite struct CBORReaderTests {
    @Test(
        arguments: [
            ("00", .unsigned(0)), ("17", .unsigned(23)), ("1818", .unsigned(24)), ("18ff", .unsigned(255)),
            ("190100", .unsigned(256)), ("19ffff", .unsigned(65_535)), ("1a00010000", .unsigned(65_536)),
            ("1affffffff", .unsigned(0xFFFF_FFFF)), ("1b0000000100000000", .unsigned(0x1_0000_0000)),
            ("1bffffffffffffffff", .unsigned(.max)), ("20", .negative(0)), ("37", .negative(23)),
            ("3818", .negative(24)), ("390100", .negative(256)), ("3a00010000", .negative(65_536)),
            ("3bffffffffffffffff", .negative(.max)), ("40", .bytes(1..<1)), ("43010203", .bytes(1..<4)),
            ("60", .text(1..<1)), ("62c3a4", .text(1..<3)), ("f4", .simple(20)), ("f5", .simple(21)),
            ("f6", .simple(22)), ("f7", .simple(23)), ("80", .array([])), ("a0", .map([])),
            ("8301820203f6", .array([.unsigned(1), .array([.unsigned(2), .unsigned(3)]), .simple(22)])),
            ("a2616101200240", nil),
            (
                "a26161012002",
                .map([
                    CBOREntry(key: .text(2..<3), value: .unsigned(1)),
                    CBOREntry(key: .negative(0), value: .unsigned(2)),
                ])
            ),
        ] as [(String, CBORItem?)]
    )
    func `an item is read as ranges of its bytes`(text: String, item: CBORItem?) throws {
        #expect((try? read(hex(text))) == item)
    }

    @Test(
        arguments: [
            ("", .truncated, 0), ("18", .truncated, 0), ("1b00000000000000", .truncated, 0), ("41", .truncated, 0),
            ("5903e8", .truncated, 0), ("8101", nil, 0), ("8201", .truncated, 0), ("a101", .truncated, 0),
            ("5bffffffffffffffff00", .truncated, 0), ("7b7fffffffffffffff00", .truncated, 0),
            ("9bffffffffffffffff00", .truncated, 0), ("bbffffffffffffffff00", .truncated, 0),
            ("bb8000000000000000f6f6", .truncated, 0), ("9a00ffffff00", .truncated, 0),
            ("5fff", .indefiniteLength, 0), ("7f6161ff", .indefiniteLength, 0), ("9f01ff", .indefiniteLength, 0),
            ("bfff", .indefiniteLength, 0), ("ff", .indefiniteLength, 0), ("81ff", .indefiniteLength, 1),
            ("1800", .nonMinimalHead, 0), ("1817", .nonMinimalHead, 0), ("1900ff", .nonMinimalHead, 0),
            ("1a0000ffff", .nonMinimalHead, 0), ("1b00000000ffffffff", .nonMinimalHead, 0),
            ("3817", .nonMinimalHead, 0), ("580100", .nonMinimalHead, 0), ("780161", .nonMinimalHead, 0),
            ("980101", .nonMinimalHead, 0), ("b8010101", .nonMinimalHead, 0), ("81580100", .nonMinimalHead, 1),
            ("a201010102", .duplicateKey, 3), ("a2616101616102", .duplicateKey, 4),
            ("a2410001410002", .duplicateKey, 4),
            ("a2f501f502", .duplicateKey, 3), ("a220012002", .duplicateKey, 3), ("a2f601f602", .duplicateKey, 3),
            ("81a2616101616102", .duplicateKey, 5), ("a241610161610 2", nil, 0), ("a201012002", nil, 0),
            ("c001", .tag, 0), ("d82001", .tag, 0), ("d9d9f700", .tag, 0), ("81c000", .tag, 1), ("c1", .tag, 0),
            ("0000", .trailingBytes, 1), ("a0f6", .trailingBytes, 1), ("40ff", .trailingBytes, 1),
            ("62c328", .invalidUTF8, 0), ("61ff", .invalidUTF8, 0), ("63eda080", .invalidUTF8, 0),
            ("62c080", .invalidUTF8, 0), ("64f4908080", .invalidUTF8, 0), ("8161 80", .invalidUTF8, 1),
            ("f93c00", .unsupported, 0), ("fa47c35000", .unsupported, 0), ("fb3ff199999999999a", .unsupported, 0),
            ("e0", .unsupported, 0), ("f3", .unsupported, 0), ("f820", .unsupported, 0), ("f814", .unsupported, 0),
            ("1c", .unsupported, 0), ("1f", .unsupported, 0), ("3e", .unsupported, 0), ("5d", .unsupported, 0),
            ("fc", .unsupported, 0), ("df00", .unsupported, 0), ("a1800 1", .unsupported, 1),
            ("a1a001", .unsupported, 1),
        ] as [(String, CBORFault.Code?, Int)]
    )
    func `non-strict CBOR is refused with its reason and place`(text: String, code: CBORFault.Code?, offset: Int) {
        #expect(fault(hex(text)) == code.map { CBORFault(code: $0, offset: offset) })
    }

    @Test(arguments: 1...12)
    func `nesting is allowed up to the limit`(depth: Int) {
        let arrays = [UInt8](repeating: 0x81, count: depth - 1) + [0x00]
        #expect(fault(arrays) == (depth <= 8 ? nil : CBORFault(code: .tooDeep, offset: 8)))
        #expect(fault(arrays, maxDepth: depth) == nil)
        #expect(fault(arrays, maxDepth: depth - 1) == CBORFault(code: .tooDeep, offset: depth - 1))
        let maps = [[UInt8]](repeating: [0xA1, 0x00], count: depth - 1).joined() + [0x00]
        #expect(fault(maps, maxDepth: depth) == nil)
        #expect(fault(maps, maxDepth: depth - 1)?.code == .tooDeep)
    }

    @Test func `a hundred thousand nested arrays are refused, not followed`() {
        #expect(fault([UInt8](repeating: 0x81, count: 100_000)) == CBORFault(code: .tooDeep, offset: 8))
    }

    @Test func `items are counted, keys and containers too`() {
        let flat = [0x98, 0xFF] + [UInt8](repeating: 0, count: 255)
        #expect(fault(flat) == nil)
        #expect(fault(flat, maxItems: 255) == CBORFault(code: .tooManyItems, offset: 0))
        let map: [UInt8] = [0xA2, 0x00, 0x00, 0x01, 0x80]
        #expect(fault(map, maxItems: 5) == nil)
        #expect(fault(map, maxItems: 4) == CBORFault(code: .tooManyItems, offset: 0))
        #expect(fault([0x81, 0x81, 0x00], maxItems: 2) == CBORFault(code: .tooManyItems, offset: 1))
        #expect(fault([0x00], maxItems: 0)?.code == .tooManyItems)
    }

    @Test(arguments: [(0, 1), (0, 15), (14, 15), (0, 16), (15, 16), (3, 39), (16, 17), (20, 39)])
    func `a duplicate key in a large map is found, wherever it is`(first: Int, second: Int) {
        // Keys of all lengths and types; no two are the same.
        var keys = (0..<40).map { number -> [UInt8] in
            switch number % 3 {
            case 0: [0x18, UInt8(100 + number)]
            case 1: [0x42, UInt8(number), 0x61]
            default: [0x62, UInt8(number), 0x61]
            }
        }
        func map() -> [UInt8] { [0xB8, UInt8(keys.count)] + keys.flatMap { $0 + [0xF6] } }
        #expect(fault(map()) == nil)
        keys[second] = keys[first]
        let offset = 2 + keys[..<second].reduce(0) { $0 + $1.count + 1 }
        #expect(fault(map()) == CBORFault(code: .duplicateKey, offset: offset))
    }

    @Test func `an item inside other bytes is read from its range alone`() throws {
        let bytes = hex("ff a1 6161 43010203 00")
        let item = try CBORReader.read(bytes.span, in: 1..<8)
        #expect(item == .map([CBOREntry(key: .text(3..<4), value: .bytes(5..<8))]))
        for end in 1..<8 {
            #expect(throws: CBORFault.self) { try CBORReader.read(bytes.span, in: 1..<end) }
        }
        #expect(throws: CBORFault(code: .trailingBytes, offset: 8)) { try CBORReader.read(bytes.span, in: 1..<9) }
    }

    @Test(arguments: [(126, true), (127, false)])
    func `a key of a map has at most 128 bytes, its head included`(count: Int, isFine: Bool) {
        let map = [0xA1, 0x78, UInt8(count)] + [UInt8](repeating: 0x61, count: count) + [0]
        #expect(((try? CBORReader.read(map.span, in: 0..<map.count)) != nil) == isFine)
    }
}
