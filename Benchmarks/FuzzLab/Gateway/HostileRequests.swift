internal import DeviceLab
internal import HostileHTTP

/// Bytes as clients send them on one connection: sound requests, damaged.
struct HostileRequests {
    private static let pieces: [[UInt8]] = [
        "\r\n", "\n", "\r", "\0", " ", "\t", ":", "\r\n ", "\r\n\t", "\r\n\r\n", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0",
        "h",
        "Host: h\r\n", "Host: h@i\r\n", "Host:\r\n", "Content-Length: 5\r\n", "Content-Length: 0\r\n",
        "Content-Length: +3\r\n",
        "Content-Length : 3\r\n", "Content-Length: 3, 3\r\n", "Content-Length: 0x3\r\n", "content-length:\r\n",
        "Content-Length: 65537\r\n", "Content-Length: 99999999999999999999\r\n",
        "Content-Length: 9223372036854775807\r\n",
        "Content-Length: 18446744073709551619\r\n", "Content-Length: \u{b}3\r\n", "Content-Length: -0\r\n",
        "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: identity\r\n", "Transfer-Encoding:\u{b}chunked\r\n",
        "Transfer_Encoding: chunked\r\n", " Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: h\r\n\r\n", "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx", "PUT ",
        "GET ",
        "%00", "%2f", "?", "#", "*", "//", "http://h/", "\u{7f}", "\u{80}", "{", "\"", "\\", "Expect: 100-continue\r\n",
        "Expect: 200\r\n", "Connection: close\r\n", "Connection: keep-alive\r\n", "Upgrade: websocket\r\n", "X: y\r\n",
    ].map { Array($0.utf8) }

    static func next(_ random: inout SeededRandom) -> [UInt8] {
        var bytes = seed(&random)
        while random.below(3) == 0, bytes.count < 8_192 { bytes += seed(&random) }
        for _ in 0..<random.below(5) { damage(&bytes, &random) }
        return bytes
    }

    private static func seed(_ random: inout SeededRandom) -> [UInt8] {
        HostileSeeds.served[random.below(HostileSeeds.served.count)].bytes
    }

    private static func damage(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        guard !bytes.isEmpty else { return bytes = seed(&random) }
        let place = random.below(bytes.count)
        switch random.below(20) {
        case 0, 1: bytes.remove(at: place)
        case 2, 3: bytes[place] = UInt8(random.below(256))
        case 4: bytes[place] ^= 1 << UInt8(random.below(8))
        case 5: bytes.insert(UInt8(random.below(256)), at: place)
        case 6: bytes.removeSubrange(place...)
        case 7...10: bytes.insert(contentsOf: pieces[random.below(pieces.count)], at: place)
        case 11...14: bytes.insert(contentsOf: pieces[random.below(pieces.count)], at: lineStart(bytes, place))
        case 15: bytes.insert(contentsOf: line(bytes, place), at: lineStart(bytes, random.below(bytes.count)))
        case 16: bytes.removeSubrange(lineStart(bytes, place)..<lineStart(bytes, place) + line(bytes, place).count)
        case 17: swapCase(&bytes, place)
        case 18: bytes.insert(contentsOf: many(&random), at: lineStart(bytes, place))
        default: bytes.insert(contentsOf: bytes[place...].prefix(random.below(200)), at: place)
        }
    }

    /// Behind the last line feed before a place.
    private static func lineStart(_ bytes: [UInt8], _ place: Int) -> Int {
        bytes[..<place].lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    }

    private static func line(_ bytes: [UInt8], _ place: Int) -> [UInt8] {
        let rest = bytes[lineStart(bytes, place)...]
        return Array(rest[..<(rest.firstIndex(of: 0x0a).map { $0 + 1 } ?? rest.endIndex)])
    }

    private static func swapCase(_ bytes: inout [UInt8], _ place: Int) {
        let byte = bytes[place] | 0x20
        if (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) { bytes[place] ^= 0x20 }
    }

    /// Headers up to the server's limits and beyond.
    private static func many(_ random: inout SeededRandom) -> [UInt8] {
        let (name, size) = (Array("X-\(random.below(10)): ".utf8), [0, 1, 100, 4_000][random.below(4)])
        let header = name + [UInt8](repeating: 0x61, count: size) + [0x0d, 0x0a]
        return Array(repeatElement(header, count: 1 + random.below(30)).joined())
    }
}
