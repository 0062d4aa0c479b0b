import Foundation
import JSON
import Testing

@Suite struct Base64Tests {
    @Test(arguments: 0..<100)
    func `every length up to 100 decodes to its input, in both alphabets, padded or not`(_ count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 251 &+ count &* 17) }
        let text = Base64.encode(bytes)
        #expect(text == Array(Data(bytes).base64EncodedString().utf8))
        #expect(Base64.decode(text) == bytes)
        let unpadded = Array(text.prefix { $0 != UInt8(ascii: "=") })
        #expect(Base64.decode(unpadded) == bytes)
        let urlSafe = Base64.encodeURL(bytes)
        #expect(urlSafe.count == unpadded.count)
        #expect(Base64.decode(urlSafe) == bytes)
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: text.count - unpadded.count)
        #expect(Base64.decode(urlSafe + padding) == bytes)
    }

    @Test func `the signs of each alphabet stand for 62 and 63`() {
        #expect(Base64.decode(Array("+/+/".utf8)) == [0xFB, 0xFF, 0xBF])
        #expect(Base64.decode(Array("-_-_".utf8)) == [0xFB, 0xFF, 0xBF])
        #expect(String(decoding: Base64.encodeURL([0xFB, 0xFF, 0xBF, 0xFB]), as: UTF8.self) == "-_-_-w")
    }

    @Test(
        arguments: [
            "A", "AAAAA", "=", "==", "===", "====", "A=", "A==", "A===", "AA=", "AAA==", "AAAA=", "AAAA==", "AAAA====",
            "AA=A", "A=AA", "=AAA", "AB==", "AAB=", "AB", "AAB", "QQ=\n", "QUJD\n", " QUJD", "QU JD", "QUJ\u{0}",
            "+A-A", "/A_A", "-A/A", "QU*D", "QUé", "QQ==QQ==", "QQ==QUJD",
        ]
    )
    func `a text that is not canonical is refused`(_ text: String) {
        #expect(Base64.decode(Array(text.utf8)) == nil)
    }

    @Test(arguments: 0..<20)
    func `a foreign character is refused at every place of a text`(_ place: Int) {
        for byte in UInt8.min...UInt8.max {
            var text = Array("QUJDQUJDQUJDQUJDQUJD".utf8)
            text[place] = byte
            let isBase64 = Unicode.Scalar(byte).isASCII && Character(Unicode.Scalar(byte)).isBase64
            let endsInPadding = place == 19 && byte == UInt8(ascii: "=")
            // The last group's padding bits are not zero for 'J' + '='.
            #expect((Base64.decode(text) != nil) == (isBase64 && !endsInPadding), "\(byte) at \(place)")
        }
    }

    @Test(arguments: 0..<10)
    func `Foundation decodes every accepted random text to the same bytes`(_ seed: Int) {
        var dice = Dice(UInt64(seed) &+ 99)
        let alphabet = Array("ABCDwxyz0189+/=".utf8)
        var taken = 0
        for _ in 0..<2000 {
            let text = (0..<dice(9)).map { _ in alphabet[dice(alphabet.count)] }
            let theirs = Data(base64Encoded: Data(text)).map(Array.init)
            guard let bytes = Base64.decode(text) else { continue }
            taken += 1
            let padded = text + [UInt8](repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
            #expect(bytes == theirs ?? Data(base64Encoded: Data(padded)).map(Array.init))
        }
        #expect(taken > 0)
    }
}

extension Character {
    fileprivate var isBase64: Bool { isASCII && (isLetter || isNumber || "+/-_".contains(self)) }
}
