internal import AppAttest
internal import AppCheck
internal import BrokerKit
internal import DeviceLab
internal import Foundation
internal import Lab
internal import Settings
internal import TestKit
internal import Threads
internal import Traffic

/// What stock clients have in the end, and what they saw.
package struct ChaosClientReport: Sendable {
    /// One installation.
    package struct Client: Sendable {
        package var name: String
        /// Standard base64; nil where it has no key.
        package var keyID: String?
        /// The `jti` of its session token; nil where it has none, or has not got every token that it asked for.
        package var tokenID: String?
    }

    package var clients: [Client] = []
    /// Answers of another call, a clause each way.
    package var crossed: [String] = []
    /// Answers that no stock client can use.
    package var misled: [String] = []
    package var calls = 0
    package var statuses: [Int: Int] = [:]
    package var failures = 0
    package var tokens = 0

    package var line: String {
        let codes = statuses.sorted { $0.key < $1.key }.map { "\($0.value) with \($0.key)" }.joined(separator: ", ")
        return "\(clients.count) stock clients: \(calls) calls, \(codes), \(failures) without an answer; "
            + "\(tokens) tokens"
    }
}

/// Stock clients that live on the gateways' answers, on a thread of their own.
final class ChaosClients: Sendable {
    private struct Status {
        /// How much of the work may be done by now, 0 to 1.
        var share = 0.0
        var mustStop = false
        var tokens = 0
        var report: ChaosClientReport?
        var fault: String?
    }

    private static let connections = 64
    private static let stepMilliseconds = 5
    /// Calls for a token: a challenge, an exchange; every other one is then checked twice.
    private static let callsForToken = 3
    /// Between two restarts of the apps once the faults are over: after ten failures in a row the SDK backs off for
    /// half an hour.
    private static let restarts = Duration.seconds(5)

    private let status = Locked(Status())
    private let settings: ChaosSettings

    init(_ settings: ChaosSettings) { self.settings = settings }

    /// nil while they work.
    var report: ChaosClientReport? { status.withLock { $0.report } }
    var fault: String? { status.withLock { $0.fault } }
    /// How many they have got by now.
    var tokens: Int { status.withLock { $0.tokens } }

    /// Lets them do so much of their work.
    func allow(_ share: Double) { status.withLock { $0.share = max($0.share, share) } }

    /// They say what they have by now.
    func stop() { status.withLock { $0.mustStop = true } }

    /// - Parameters:
    ///   - urls: each has clients of its own.
    ///   - config: the workers' folder.
    func start(_ urls: [String], ca: LabCA, config: String) throws {
        let apps = try Configuration.load(directory: config).registry.apps.compactMap { SimulatedApp($0) }
        let thread = Thread { [self] in
            do {
                let report = try run(urls, apps, ca)
                status.withLock { $0.report = report }
            } catch {
                status.withLock { ($0.fault, $0.report) = ("\(error)", ChaosClientReport()) }
            }
        }
        thread.stackSize = 4 << 20
        thread.start()
    }

    private func run(_ urls: [String], _ apps: [SimulatedApp], _ ca: LabCA) throws -> ChaosClientReport {
        var wishes: [StockMember.Wish] = [.session]
        for index in 0..<settings.wishes { wishes.append(index % 2 == 0 ? .refresh : .limitedUse) }
        let ways = try urls.enumerated().map { index, url in
            var target = GatewayTarget(base: url)
            target.secret = GatewaySite.secret
            let link = try HTTPStockLink(target, connections: Self.connections)
            let seed = settings.seed &* 1_000 &+ UInt64(index)
            let members = StockFleet.members(apps, ca: ca, devices: settings.clients, seed: seed, wishes: wishes)
            return (link: link, fleet: StockFleet(members, link: link, prefix: "chaos-\(seed)"))
        }
        var lastRestart = ContinuousClock.now
        while !ways.allSatisfy({ Self.isDone($0.fleet) }), !status.withLock({ $0.mustStop }) {
            let share = status.withLock { $0.share }
            if share >= 1, ContinuousClock.now - lastRestart > Self.restarts {
                lastRestart = .now
                for way in ways { way.fleet.restart() }
            }
            let calls = Double(settings.clients * settings.wishes * Self.callsForToken) * share
            for way in ways where !Self.isDone(way.fleet) {
                way.fleet.limit = share < 1 ? Int(calls) : .max
                let now = EvaluationTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
                try way.fleet.step(at: now, milliseconds: Self.stepMilliseconds)
            }
            let tokens = ways.reduce(0) { $0 + $1.fleet.tally.minted }
            status.withLock { $0.tokens = tokens }
        }
        var report = ChaosClientReport()
        for (index, way) in ways.enumerated() {
            try way.fleet.close()
            report.add(way.fleet, way.link, name: index < settings.gateways ? "g\(index + 1)" : "proxy")
        }
        return report
    }

    private static func isDone(_ fleet: StockFleet) -> Bool {
        !fleet.isWaiting && fleet.members.allSatisfy { $0.wishes.isEmpty && $0.current == nil }
    }
}

extension ChaosClientReport {
    fileprivate mutating func add(_ fleet: StockFleet, _ link: HTTPStockLink, name: String) {
        for (index, member) in fleet.members.enumerated() {
            let hasAll = member.wishes.isEmpty && member.current == nil
            let client = Client(
                name: "\(name)/\(index)",
                keyID: (member.client.keyID?.recordKey).map { String(decoding: $0, as: UTF8.self) },
                tokenID: hasAll ? member.session.flatMap { ExchangeToken($0.text)?.id } : nil
            )
            clients.append(client)
        }
        calls += fleet.tally.calls
        tokens += fleet.tally.minted
        misled += fleet.tally.faults.map { "\(name): \($0)" }
        failures += link.account.failures.values.reduce(0, +)
        statuses.merge(link.account.statuses, uniquingKeysWith: +)
        if let first = link.account.crossings.first {
            crossed += Array(repeating: "\(name): \(first)", count: link.account.crossings.crossings)
        }
    }
}
