internal import Foundation
internal import HTTP
internal import TestKit
internal import Testing
internal import Threads

@testable internal import CommandFrame
@testable internal import Commands
@testable internal import Study
@testable internal import Telemetry

@Suite("top: asking instances")
struct TopRoundsTests {
    private static func server(_ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) throws -> HTTPServer {
        try HTTPServer(address: "127.0.0.1", port: 0, handler: answer)
    }

    private static func text(_ text: String, _ status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "text/plain", body: Array(text.utf8))
    }

    @Test func `each instance is asked, and one without an answer does not keep the others from being shown`() throws {
        let worker = try Self.server { request in
            switch request.path {
            case "/metrics": Self.text(TopSamples.worker(1))
            case "/status": Self.text(TopSamples.held)
            default: .notFound
            }
        }
        let gateway = try Self.server { request in
            switch request.path {
            case "/metrics": Self.text(TopSamples.gateway)
            case "/readyz": Self.text(#"{"state":"waiting_for_broker","reason":"no broker is connected"}"#, 503)
            default: .notFound
            }
        }
        let broken = try Self.server { _ in Self.text("", 500) }
        let addresses = [worker.port, gateway.port, broken.port].map { "127.0.0.1:\($0)" } + ["127.0.0.1:1"]
        let rounds = try TopRounds(addresses)
        rounds.ask()
        let found = rounds.instances
        #expect(found.map(\.address) == addresses)
        #expect(found[0].kind == .worker && found[0].state == "running" && found[0].now?.status.held.count == 1)
        #expect(found[1].kind == .gateway && found[1].now?.status.reason == "no broker is connected")
        #expect(found[2].fault == "/metrics has HTTP status 500" && found[2].now == nil)
        #expect(found[3].fault?.isEmpty == false)
        rounds.ask()
        #expect(rounds.instances[0].rate(.requests) == 0)
        withExtendedLifetime((worker, gateway, broken)) {}
    }

    @Test func `a stop ends a round at once`() throws {
        let rounds = try TopRounds(["127.0.0.1:1"])
        rounds.ask { true }
        #expect(rounds.instances[0].now == nil)
    }

    @Test func `--once prints plain text, and exits with 1 where nothing answers`() throws {
        let worker = try Self.server { request in
            request.path == "/metrics" ? Self.text(TopSamples.worker(1)) : .notFound
        }
        let address = "127.0.0.1:\(worker.port)"
        let (code, transcript) = Transcript.run(["top", "--once", "--instances", "\(address),127.0.0.1:1"])
        #expect(code == 0 && transcript.output.contains("1 of 2 instances answering"), "\(transcript.output)")
        #expect(transcript.output.contains("! 127.0.0.1:1 does not answer"))
        #expect(!transcript.output.contains("\u{1B}"))
        #expect(Transcript.run(["top", "--once", "--instances", "127.0.0.1:1"]).code == 1)
        withExtendedLifetime(worker) {}
    }

    @Test(
        arguments: [
            ("127.0.0.1", "127.0.0.1:9464"), ("0.0.0.0", "127.0.0.1:9464"), ("::", "[::1]:9464"),
            ("::1", "[::1]:9464"),
        ]
    )
    func `a directory's worker is found by its metrics address`(address: String, expected: String) throws {
        let directory = try KeyDirectory(#""metrics":{"port":9464,"address":"\#(address)"}"#)
        let arguments = try OptionParser(command: .top).parse(["--config", directory.path])
        #expect(try TopSession.addresses(arguments) == [expected])
        let several = ["--instances", "a:1,[::1]:2", "--instances=c.example:3"]
        let named = try OptionParser(command: .top).parse(several)
        #expect(try TopSession.addresses(named) == ["a:1", "[::1]:2", "c.example:3"])
    }

    @Test func `the terminal's own screen comes back, once, and nothing is drawn after that`() throws {
        let written = Locked("")
        let screen = LiveScreen { bytes in written.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
        try screen.draw(["early"])
        try screen.open()
        try screen.draw(["one\u{1B}[2J", "two"])
        screen.close()
        screen.close()
        try screen.draw(["late"])
        let text = written.withLock { $0 }
        #expect(text.hasPrefix("\u{1B}[?1049h") && text.hasSuffix("\u{1B}[?1049l"))
        #expect(text.components(separatedBy: "\u{1B}[?1049l").count == 2)
        #expect(text.contains("one[U+001B][2J\u{1B}[K\r\ntwo") && !text.contains("late") && !text.contains("early"))
    }
}
