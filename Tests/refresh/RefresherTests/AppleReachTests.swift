internal import AppAttest
internal import AppCheck
internal import Foundation
internal import HTTP
internal import Settings
internal import TestKit
internal import Testing
internal import Threads

@testable internal import Refresher

/// What `refresh-receipts --check` asks Apple.
@Suite("The way to Apple")
struct AppleReachTests {
    private static let nowhere = "http://127.0.0.1:1/v1/attestationData"

    /// Answers each call with a status, and remembers what came.
    private final class Host: Sendable {
        let server: HTTPCallServer
        private let calls: Locked<[HTTPCall]>

        init(_ status: Int = 405) throws {
            let calls = Locked<[HTTPCall]>([])
            self.calls = calls
            server = try HTTPCallServer(address: "127.0.0.1", port: 0) { call, responder in
                calls.withLock { $0.append(call) }
                responder.answer(HTTPReply(status: status))
            }
        }

        var seen: [HTTPCall] { calls.withLock { $0 } }

        func url(_ scheme: String = "http") -> String { "\(scheme)://127.0.0.1:\(server.port)/v1/attestationData" }
    }

    private static func reach(
        _ environments: Set<Environment> = [.production, .development],
        mode: RiskPolicy.Mode = .report,
        _ change: (inout RiskSettings) -> Void
    ) throws -> AppleReach {
        var configuration = Configuration()
        configuration.registry = try ExchangeKit.registry {
            $0.risk.mode = mode
            $0.expectations.environments = environments
        }
        change(&configuration.risk)
        return AppleReach(configuration)
    }

    private static func sentence(_ reach: AppleReach) -> String {
        do throws(CommandFault) {
            try reach.check()
            return ""
        } catch { return error.sentence }
    }

    @Test(arguments: [200, 401, 405, 503])
    func `any answer will do, and neither receipt nor token is sent`(status: Int) throws {
        let (first, second) = (try Host(status), try Host(status))
        let reach = try Self.reach { ($0.production, $0.development) = (first.url(), second.url()) }
        #expect(Self.sentence(reach) == "")
        for host in [first, second] {
            let call = try #require(host.seen.first)
            #expect(host.seen.count == 1 && call.method == Array("GET".utf8) && call.body.isEmpty)
            #expect(call.target == Array("/v1/attestationData".utf8) && call.values("authorization").isEmpty)
        }
    }

    @Test func `a host that does not answer is named, alone or with the other one`() throws {
        let host = try Host()
        let one = try Self.reach { ($0.production, $0.development) = (host.url(), Self.nowhere) }
        let sentence = Self.sentence(one)
        #expect(sentence.hasPrefix("cannot reach \(Self.nowhere): ") && !sentence.contains(host.url()), "\(sentence)")
        #expect(sentence.contains("risk.proxy") && !sentence.contains("\n"))
        let none = try Self.reach { ($0.production, $0.development) = (Self.nowhere, Self.nowhere + "2") }
        let both = Self.sentence(none)
        #expect(both.contains(" \(Self.nowhere): ") && both.contains(" \(Self.nowhere)2: "), "\(both)")
        #expect(both.contains(", nor ") && !both.contains("\n"))
    }

    @Test(arguments: [Environment.production, .development])
    func `only hosts of environments that an app accepts are asked`(environment: Environment) throws {
        let host = try Host()
        let reach = try Self.reach([environment]) {
            ($0.production, $0.development) = (Self.nowhere, host.url())
            if environment == .production { swap(&$0.production, &$0.development) }
        }
        #expect(reach.environments == [environment] && Self.sentence(reach) == "" && host.seen.count == 1)
    }

    @Test func `where no app keeps receipts no host is asked`() throws {
        let host = try Host()
        let reach = try Self.reach(mode: .off) { ($0.production, $0.development) = (host.url(), host.url()) }
        #expect(reach.environments == [] && Self.sentence(reach) == "" && host.seen.isEmpty)
    }

    /// Each of them breaks a way that works otherwise.
    @Test(arguments: ["TLS", "proxy", "authorities"])
    func `TLS, the proxy and the authorities are those of the calls`(part: String) throws {
        let host = try Host()
        let reach = try Self.reach([.production]) {
            $0.production = host.url(part == "TLS" ? "https" : "http")
            if part == "proxy" { $0.proxy = "http://127.0.0.1:1" }
            if part == "authorities" { $0.authorities = "/nowhere/roots.pem" }
        }
        let named = part == "authorities" ? "/nowhere/roots.pem" : "127.0.0.1:\(host.server.port)/"
        #expect(Self.sentence(reach).contains(named))
        #expect(host.seen.isEmpty)
    }
}
