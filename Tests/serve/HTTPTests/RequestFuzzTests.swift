import Foundation
import HTTP
import TestKit
import Testing

@Suite("Mutated requests")
struct RequestFuzzTests {
    private static let seeds = [
        "GET /a?b=c HTTP/1.1\r\nHost: h\r\nAccept: */*\r\n\r\n",
        "POST /v1/projects/1/apps/2:x?key=k HTTP/1.1\r\nHost: h\r\nX-A: b\r\nContent-Length: 10\r\n\r\n0123456789",
        "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ]
    private static let pieces = [
        "\r\n", "\n", "\r", "\0", " ", "\t", ":", "\r\n ", "HTTP/1.1", "HTTP/1.0", "Host: h\r\n",
        "Content-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\n", "GET /x HTTP/1.1\r\nHost: h\r\n\r\n", "%00", "?", "\u{7f}",
        "Expect: 100-continue\r\n",
    ]

    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    private static func mutated(_ generator: inout Generator) -> [UInt8] {
        var bytes = Array(seeds[Int.random(in: 0..<seeds.count, using: &generator)].utf8)
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            let place = Int.random(in: 0..<max(bytes.count, 1), using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0 where !bytes.isEmpty: bytes.remove(at: place)
            case 1 where !bytes.isEmpty: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 2:
                bytes.insert(contentsOf: pieces[Int.random(in: 0..<pieces.count, using: &generator)].utf8, at: place)
            default: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            }
        }
        return bytes
    }

    private static func isSound(_ call: HTTPCall) -> Bool {
        let token = Array("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz".utf8)
        let capitals = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        return !call.method.isEmpty && call.method.allSatisfy((token + capitals).contains) && call.target.first == 0x2f
            && call.target.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x23 }
            && call.headers.allSatisfy { header in
                !header.name.isEmpty && header.name.allSatisfy(token.contains)
                    && header.value.allSatisfy { $0 == 9 || ($0 >= 0x20 && $0 != 0x7f) }
                    && header.value.first.map { $0 != 0x20 && $0 != 9 } ?? true
                    && header.value.last.map { $0 != 0x20 && $0 != 9 } ?? true
            }
            && call.values("host").count <= 1 && call.values("content-length").count <= 1
            && call.values("transfer-encoding").isEmpty
            && Int(String(decoding: call.values("content-length").first ?? [0x30], as: UTF8.self)) == call.body.count
    }

    /// What the handler may see of the bytes, by a reader of its own: requests up to the first that is not strict.
    private static func strictTargets(_ bytes: [UInt8]) -> [[UInt8]]? {
        // A zero before a line feed is the one thing that the library hides.
        let pairs = zip(bytes, bytes.dropFirst())
        if pairs.contains(where: { $0 == 0 && $1 == 0x0a }) { return nil }
        var (rest, targets) = (bytes[...], [[UInt8]]())
        let end = Array("\r\n\r\n".utf8)
        while let close = rest.indices.first(where: { rest[$0...].starts(with: end) }) {
            let lines = rest[rest.startIndex..<close].split(separator: 0x0a, omittingEmptySubsequences: false)
            let isSpelled =
                lines.dropLast().allSatisfy { $0.last == 0x0d }
                && lines.allSatisfy { !$0.dropLast().contains(0x0d) && !$0.contains(0) } && lines.last?.last != 0x0d
            let words = lines.first?.split(separator: 0x20, omittingEmptySubsequences: false) ?? []
            guard isSpelled, words.count == 3 else { return targets }
            let names = lines.dropFirst().map { Array($0.prefix { $0 != 0x3a }) }
            let isNamed = names.allSatisfy { name in !name.isEmpty && name.allSatisfy { $0 > 0x20 } }
            let lengths = lines.dropFirst().filter {
                String(decoding: $0, as: UTF8.self).lowercased().hasPrefix("content-length:")
            }
            let digits = lengths.first.map { String(decoding: $0.drop { $0 != 0x3a }.dropFirst(), as: UTF8.self) }
            let blanks = CharacterSet(charactersIn: " \t\r")
            guard isNamed, lengths.count <= 1,
                let length = Int(digits?.trimmingCharacters(in: blanks) ?? "0"), length >= 0
            else { return targets }
            targets.append(Array(words[1]))
            rest = rest[(close + 4)...].dropFirst(length)
        }
        return targets
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `they end no server, and its handler sees only what is strict`(seed: UInt64) throws {
        var limits = HTTPCallLimits()
        limits.requestSeconds = 1
        // Several side by side: some mutations are only ended by the deadline.
        let servers = try (0..<50).map { _ in try EchoServer(limits) }
        var generator = Generator(state: seed &* 0x9e37_79b9_7f4a_7c15 &+ 1)
        var seen = [Int](repeating: 0, count: servers.count)
        for _ in 0..<6 {
            let tries = try servers.map { server in
                let (bytes, client) = (Self.mutated(&generator), try #require(server.client()))
                client.write(bytes)
                client.finishWriting()
                return (bytes: bytes, client: client)
            }
            for (number, one) in tries.enumerated() {
                let text = String(decoding: one.bytes, as: UTF8.self).debugDescription
                #expect(one.client.readAll().isClosed, "\(text)")
                let calls = servers[number].calls[seen[number]...]
                seen[number] += calls.count
                #expect(calls.allSatisfy(Self.isSound), "\(text)")
                guard let strict = Self.strictTargets(one.bytes) else { continue }
                let isStrict = calls.count <= strict.count && zip(calls, strict).allSatisfy { $0.target == $1 }
                #expect(isStrict, "\(text)")
            }
        }
        #expect(servers.allSatisfy(\.isAlive) && seen.reduce(0, +) > 30, "\(seen)")
    }
}
