internal import AppAttest
internal import AppCheck
internal import CommandFrame
internal import Crypto
internal import Gateway
internal import HTTP
internal import KafkaPorts
internal import Run
internal import Settings
internal import Traffic

/// A gateway inside the demo's process, and stock clients that call it over HTTP.
final class DemoGateway {
    private let broker: GatewayBroker
    private let gateway: Gateway
    private let server: HTTPCallServer
    private let link: HTTPStockLink
    let fleet: StockFleet

    /// - Parameter say: takes faults that are ridden out, on any thread.
    init(_ stage: DemoStage, clients: Int, say: @escaping @Sendable (String) -> Void) throws {
        let (configuration, rings) = (stage.loaded.configuration, stage.loaded.keys.rings)
        let secret = Hexadecimal.encode(SecureRandom.bytes(32))
        let digest = Hexadecimal.encode(SHA256.hash(Array(secret.utf8)).bytes)
        let keySet = rings.tokens.jsonWebKeySet
        let rules = GatewayRules(
            configuration,
            challenges: rings.challenges,
            verifiers: try Verifiers(Array("backend \(digest)".utf8)),
            keySet: (keySet, try VerificationKeys(jsonWebKeySet: keySet))
        )
        let counts = TopicPartitions(requests: stage.partitions, replies: nil)
        broker = GatewayBroker(configuration, properties: stage.readerProperties, counts: counts, instance: "demo") {
            say($0.message)
        }
        let gateway = broker.gateway(rules)
        self.gateway = gateway
        try broker.start(gateway)
        gateway.open()
        server = try HTTPCallServer(address: "127.0.0.1", port: 0) { gateway.handle($0, $1) }
        var target = GatewayTarget(base: "http://127.0.0.1:\(server.port)")
        target.secret = secret
        link = try HTTPStockLink(target, connections: clients)
        fleet = stage.fleet(of: clients, seed: 3, link: link, prefix: "web")
    }

    /// Calls that became records: the gateway itself makes challenges.
    var records: Int { fleet.tally.calls - link.account.count(of: Verb.generateAppAttestChallenge.rawValue) }

    func step(at time: EvaluationTime, milliseconds: Int) throws {
        gateway.poll()
        try fleet.step(at: time, milliseconds: milliseconds)
    }

    func close() throws {
        try fleet.close()
        gateway.close()
        server.stop()
        broker.stop()
    }

    // MARK: The account

    /// - Returns: the exit code: 0 when every client has its tokens, and none of them another's.
    func print(on console: Console) -> Int32 {
        let (tally, account, count) = (fleet.tally, link.account, fleet.members.count)
        console.print(
            "\nThe same over HTTP: \(count) stock clients at a gateway on 127.0.0.1, port \(server.port), "
                + "\(tally.calls) calls:"
        )
        for line in account.lines { console.print(line) }
        if let (call, answer) = account.sample {
            console.print("\nOne call and its answer (the secrets are shortened):")
            for line in HTTPSample.lines(call, answer, port: server.port) { console.print("  \(line)") }
        }
        tally.printUnexpected(on: console)
        if let first = account.crossings.first { console.print("UNEXPECTED: an answer of another call: \(first)") }
        let isWhole = tally.isWhole(clients: count)
        if !isWhole { console.print("UNEXPECTED: not every client finished over HTTP") }
        let isGood = isWhole && tally.isExpected && tally.lost == 0
        return isGood && account.crossings.crossings == 0 ? ExitCode.done : ExitCode.failed
    }
}
