internal import BrokerKit

/// Gateways and their stock clients, where a run has them.
extension ChaosRun {
    /// The part of the clients' work that is done amid the faults; the rest shows that all has come back.
    static let clientsShare = 0.8
    /// The longest after the last fault without a token for any client.
    private static let clientsBudget = Duration.seconds(60)

    func startClients() throws {
        guard let gates, let clients else { return }
        try gates.start()
        try clients.start(gates.urls, ca: workplace.ca, config: workplace.config)
        say("stock clients at \(gates.urls.joined(separator: ", "))")
    }

    /// Waits until each client has all the tokens that it wants; after a while those are found that have not.
    func finishClients() throws {
        guard let clients else { return }
        clients.allow(1)
        var (tokens, since) = (clients.tokens, ContinuousClock.now)
        while clients.report == nil {
            if clients.tokens != tokens { (tokens, since) = (clients.tokens, .now) }
            if ContinuousClock.now - since > Self.clientsBudget { clients.stop() }
            try tick()
        }
        // Their last requests are as late as a fault.
        lastFault = .now
        if let fault = clients.fault { throw ClusterFault(description: "the stock clients: \(fault)") }
        say(clients.report?.line ?? "")
    }
}
