import AppAttest
import AppCheck
import DeviceLab
import Gateway
import HTTP
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// Two gateways before a worker, each with files of its own, and devices of users that do nothing wrong.
@Suite("A healthy device is never told 400, 403 or 404")
struct HealthyDeviceTests {
    /// The files as of one moment.
    struct Files: Sendable {
        /// Whether apps.json lists the second app, the OAuth client and the project's ID.
        var hasNewApp = false
        /// Whether it says of the second app that it is retired.
        var retiresApp = false
        var challenges: [UInt8] = [2]
        var sealing: [UInt8] = [1]
        var signing = "Kx3_Qa"

        func registry() throws -> Registry {
            let apps = try ExchangeKit.registry().apps
            if retiresApp {
                let name = "projects/\(ExchangeKit.projectNumber)/apps/\(ExchangeKit.otherAppID)"
                return try Registry(apps: [apps[0], apps[2]], retired: [ExactText(name)])
            }
            guard !hasNewApp else { return try Registry(apps: apps) }
            var first = apps[0]
            (first.oauthClientIDs, first.projectID) = ([], nil)
            return try Registry(apps: [first, apps[2]])
        }

        func worker() throws -> PipelineSettings {
            let keys = try ExchangeKit.keys(
                tokens: [ExchangeKit.rs256(signing)],
                sealing: sealing,
                challenges: challenges
            )
            var settings = try ExchangeKit.settings(keys: keys)
            settings.registry = try registry()
            return settings
        }
    }

    enum Machine: CaseIterable, Sendable { case first, second, worker }

    final class Site {
        let gateways: [GatewayRig]
        let worker: ExchangeRig

        init(_ files: Files) throws {
            gateways = [try GatewayRig(), try GatewayRig()]
            worker = try ExchangeRig(files.worker())
            for machine in [Machine.first, .second] { try give(files, to: machine) }
        }

        /// - Parameter restarts: whether the machine restarts instead of reloading.
        func give(_ files: Files, to machine: Machine, restarts: Bool = false) throws {
            let rules = try GatewayRig.rules(files.registry(), challenges: files.challenges)
            switch machine {
            case .first: gateways[0].gateway.replace(rules)
            case .second: gateways[1].gateway.replace(rules)
            case .worker where restarts: try worker.restart(files.worker())
            case .worker: #expect(try worker.replace(files.worker()) == nil)
            }
        }

        /// A call through a gateway, and what the worker makes of it.
        func send(_ request: ExchangeRequest, via index: Int) throws -> HTTPReply {
            // Each challenge is another one.
            gateways[0].pass(milliseconds: 1)
            gateways[1].pass(milliseconds: 1)
            worker.time += 1
            let gateway = gateways[index]
            let before = gateway.requests.count
            let responder = try gateway.send(request)
            for sent in gateway.requests.dropFirst(before) { try gateway.relay(sent, to: worker) }
            return try #require(responder.reply)
        }
    }

    /// A device that attests and then asserts, each call through either gateway.
    struct Client {
        private(set) var device: FakeDevice
        let resource: String
        private(set) var artifact: [UInt8]?

        init(_ resource: String, seed: UInt64) {
            (device, self.resource) = (FakeDevice(ExchangeKit.model, seed: seed), resource)
        }

        /// - Returns: the statuses up to the first that is not 200.
        mutating func use(_ site: Site, challengeVia first: Int, exchangeVia second: Int) throws -> [Int] {
            let challenged = try site.send(.challenge(resource), via: first)
            let root = try? JSONDocument(parsing: challenged.body).root
            guard challenged.status == 200, let challenge = root?["challenge"]?.base64Bytes else {
                return [challenged.status]
            }
            return [200, try exchange(challenge, site, via: second)]
        }

        mutating func exchange(_ challenge: [UInt8], _ site: Site, via index: Int) throws -> Int {
            let request: ExchangeRequest =
                if let artifact {
                    .assertion(of: &device, artifact: artifact, challenge: challenge, resource: resource)
                } else {
                    .attestation(of: device, challenge: challenge, resource: resource)
                }
            let reply = try site.send(request, via: index)
            if artifact == nil, reply.status == 200 {
                artifact = try JSONDocument(parsing: reply.body).root["artifact"]?.base64Bytes
            }
            return reply.status
        }
    }

    static let changes: [(String, [Files])] = [
        ("a new app, OAuth client and project ID", [Files(), Files(hasNewApp: true)]),
        (
            "a challenge key: known, then first, then alone",
            [Files(), Files(challenges: [2, 3]), Files(challenges: [3, 2]), Files(challenges: [3])]
        ),
        ("a challenge key that replaces the other at once", [Files(), Files(challenges: [3])]),
        ("a sealing key: known, then first", [Files(), Files(sealing: [1, 4]), Files(sealing: [4, 1])]),
        ("a sealing key that is first at once", [Files(), Files(sealing: [4, 1])]),
        ("a signing key", [Files(), Files(signing: "Next")]),
    ]

    static let orders: [[Machine]] = {
        let all = Machine.allCases
        return all.flatMap { first in
            all.filter { $0 != first }.map { second in
                [first, second] + all.filter { $0 != first && $0 != second }
            }
        }
    }()

    @Test(arguments: Array(changes.indices), orders)
    func `in whatever order files arrive, and whichever machine restarts`(change: Int, order: [Machine]) throws {
        let states = Self.changes[change].1
        for restarts in [false, true] {
            let site = try Site(try #require(states.first))
            var clients = [ExchangeKit.resource, ExchangeKit.name, ExchangeKit.otherResource]
                .enumerated().map { Client($1, seed: UInt64($0 + 1)) }
            clients.append(Client("oauthClients/\(ExchangeKit.client)", seed: 9))
            var seed: UInt64 = 100
            try check(&clients, site, &seed)
            for next in states.dropFirst() {
                for machine in order {
                    try site.give(next, to: machine, restarts: restarts)
                    try check(&clients, site, &seed)
                }
            }
            // All have the newest files: everyone is served again.
            let last = try #require(states.last)
            for index in clients.indices where last.hasNewApp || clients[index].resource == ExchangeKit.name {
                #expect(try clients[index].use(site, challengeVia: 0, exchangeVia: 1) == [200, 200])
            }
        }
    }

    /// Old devices and new ones call through both gateways.
    private func check(_ clients: inout [Client], _ site: Site, _ seed: inout UInt64) throws {
        for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for index in clients.indices {
                seed += 1
                var fresh = Client(clients[index].resource, seed: seed)
                let statuses =
                    try clients[index].use(site, challengeVia: first, exchangeVia: second)
                    + fresh.use(site, challengeVia: first, exchangeVia: second)
                for status in statuses {
                    #expect([200, 503].contains(status), "\(clients[index].resource): \(statuses)")
                }
            }
        }
    }

    @Test(arguments: orders)
    func `an app that is retired gets 404 where its gateway has read so, and 503 where only the worker has`(
        order: [Machine]
    ) throws {
        let site = try Site(Files(hasNewApp: true))
        var client = Client(ExchangeKit.otherResource, seed: 1)
        var hasRead: Set<Machine> = []
        for machine in order {
            hasRead.insert(machine)
            try site.give(Files(retiresApp: true), to: machine, restarts: true)
            for (index, machine) in [Machine.first, .second].enumerated() {
                let statuses = try client.use(site, challengeVia: index, exchangeVia: index)
                let expected = hasRead.contains(machine) ? [404] : [200, hasRead.contains(.worker) ? 503 : 200]
                #expect(statuses == expected, "\(order)")
            }
        }
    }

    // MARK: Names

    static let unlisted = [
        "projects/contract-test-1/apps/1:123456789012:ios:00000000",
        "projects/123456789012/apps/1:123456789012:ios:00000000",
        "projects/not-known-yet/apps/1:123456789012:ios:00000000", "projects/not-known-yet/apps/\(ExchangeKit.appID)",
        "oauthClients/123456789012-abc123.apps.googleusercontent.com",
        "oauthClients/999-abc123.apps.googleusercontent.com", "projects/another/apps/1:999:ios:00000000",
        "projects/999/apps/1:999:ios:00000000", "projects/contract-test-1/apps/1:123456789012:android:00000000",
        "projects/lab/apps/none", "oauthClients/none",
        "projects/contract-test-1/apps/1%253A123456789012%253Aios%253A00",
    ]

    /// The files of apps that a gateway may have been given: its own, none, and another environment's.
    static let files: [@Sendable () throws -> Registry] = [
        { try ExchangeKit.registry() }, { try Registry(apps: []) },
        {
            let other = RegisteredApp(
                projectNumber: "777",
                projectID: "staging",
                appID: "1:777:ios:00",
                expectations: Expectations(appIDs: [])
            )
            return try Registry(apps: [other])
        },
    ]

    @Test(arguments: Array(files.indices), unlisted)
    func `a name that no file lists may come later, whatever its form and its project`(
        file: Int,
        resource: String
    ) throws {
        let rig = try GatewayRig()
        rig.gateway.replace(try GatewayRig.rules(Self.files[file](), challenges: [2]))
        for verb in ["generateAppAttestChallenge", "exchangeAppAttestAttestation", "exchangeDebugToken"] {
            #expect(rig.call("POST", "/v1/\(resource):\(verb)", body: Array("{}".utf8)).reply?.status == 503)
        }
        #expect(rig.call("GET", "/v1/\(resource):rollout", [("x-installation-id", "i")]).reply?.status == 503)
        #expect(rig.gateway.counts.rejections[.app] == 4)
        let unknown = try #require(rig.gateway.takeUnknown().app)
        #expect(unknown.count == 4)
        #expect(unknown.name.shown == resource.replacing("%253A", with: "%3A"))
    }

    static let gone = [
        ("projects/1/apps/1:1:ios:0a", "projects/1/apps/1:1:ios:0a"),
        // By the ID of a project that is not listed any more.
        ("projects/one/apps/1:1:ios:0a", "projects/1/apps/1:1:ios:0a"),
        ("projects/contract-test-1/apps/own", "projects/123456789012/apps/own"),
        ("projects/123456789012/apps/own", "projects/123456789012/apps/own"), ("oauthClients/c", "oauthClients/c"),
    ]

    @Test(arguments: gone, [true, false])
    func `a retired name gets 404, also where nothing else is listed`(name: (String, String), hasApps: Bool) throws {
        let rig = try GatewayRig()
        let apps = hasApps ? try ExchangeKit.registry().apps : []
        let registry = try Registry(apps: apps, retired: [ExactText(name.1)])
        rig.gateway.replace(try GatewayRig.rules(registry, challenges: [2]))
        let isKnown = hasApps || !name.0.contains("contract-test-1")
        let status = rig.call("POST", "/v1/\(name.0):generateAppAttestChallenge").reply?.status
        #expect(status == (isKnown ? 404 : 503))
        #expect(rig.gateway.unfitness == nil, "a service that has ended is as it must be")
    }
}
