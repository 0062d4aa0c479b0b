import TestKit
import Testing

@testable import HTTPClient

@Suite("Headers of an answer")
struct HeaderLimitTests {
    /// Where an answer has its many headers.
    enum Place: CaseIterable { case oneLine, manyLines, interimAnswers, trailers }

    private static func ending(_ answer: String, cutsBodies: Bool = false) throws -> ClientEnding {
        let server = try #require(ScriptedServer([answer]))
        var options = ClientOptions()
        (options.headers, options.cutsBodies) = (nil, cutsBodies)
        return try ClientLab.ending(
            ClientCall(tag: 1, method: .get, url: "http://127.0.0.1:\(server.port)/"),
            options
        )
    }

    /// An answer whose header bytes, with status lines and empty ones, are so many.
    private static func answer(_ place: Place, bytes: Int) -> String {
        let (interim, end) = ("HTTP/1.1 103 Early Hints\r\n\r\n", "\r\n")
        var parts = (before: "", head: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", body: "ok", after: "")
        if place == .trailers {
            parts.head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
            (parts.body, parts.after) = ("2\r\nok\r\n0\r\n", end)
        }
        // The empty line after trailers is no header to the client.
        var left = bytes - parts.head.utf8.count - end.utf8.count
        switch place {
        case .interimAnswers:
            while left >= 2 * interim.utf8.count {
                parts.before += interim
                left -= interim.utf8.count
            }
            parts.head += line(left)
        case .oneLine: parts.head += line(left)
        case .manyLines: parts.head += lines(left)
        case .trailers: parts.after = lines(left) + end
        }
        return parts.before + parts.head + end + parts.body + parts.after
    }

    private static func line(_ bytes: Int) -> String { "X-A: " + String(repeating: "a", count: bytes - 7) + "\r\n" }

    private static func lines(_ bytes: Int) -> String {
        String(repeating: line(1_000), count: bytes / 1_000 - 1) + line(1_000 + bytes % 1_000)
    }

    @Test(arguments: Place.allCases, [true, false])
    func `headers may have 64 KiB and not a byte more`(place: Place, fits: Bool) throws {
        let ending = try Self.ending(Self.answer(place, bytes: 65_536 + (fits ? 0 : 1)))
        #expect(ending.status == (fits ? 200 : nil) && ending.answer?.body == (fits ? Array("ok".utf8) : nil))
        #expect(ending.failure == (fits ? nil : .tooLarge))
    }

    /// The library itself takes no line of that length.
    @Test(arguments: Place.allCases.filter { $0 != .oneLine })
    func `what goes on with headers ends, also where long bodies are cut`(place: Place) throws {
        let ending = try Self.ending(Self.answer(place, bytes: 250_000), cutsBodies: true)
        guard case .failed(let failure) = ending.outcome else {
            Issue.record("\(ending)")
            return
        }
        #expect(failure == .tooLarge("the answer's headers are", Transfer.mostHeaderBytes))
    }
}
