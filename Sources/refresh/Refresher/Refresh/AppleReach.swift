internal import AppAttest
internal import AppCheck
internal import HTTPClient
internal import Settings

/// Whether Apple answers at all, through the proxy and by the authorities that are configured.
struct AppleReach {
    private static let pollMilliseconds = 100

    private let settings: RiskSettings
    /// The environments whose receipts are exchanged.
    let environments: [Environment]

    init(_ configuration: Configuration) {
        let apps = configuration.registry.apps.filter(\.risk.keepsReceipts)
        settings = configuration.risk
        environments = Environment.allCases.filter { environment in
            apps.contains { $0.expectations.environments.contains(environment) }
        }
    }

    /// Asks each endpoint for an answer, whatever it says; no receipt and no token is sent.
    ///
    /// - Throws: ``CommandFault`` for those that give none.
    func check() throws(CommandFault) {
        let caller = try ReceiptCaller(settings)
        for environment in environments { caller.probe(environment, tag: Self.tag(environment)) }
        var failures: [UInt64: ClientFailure] = [:]
        // Each of them ends with its own time-out at the latest.
        while caller.openCalls > 0 {
            for ending in caller.poll(milliseconds: Self.pollMilliseconds, now: WallClock.now) {
                if case .failed(let failure) = ending.client.outcome { failures[ending.client.tag] = failure }
            }
        }
        let lines = environments.compactMap { environment in
            failures[Self.tag(environment)].map { "\(settings.endpoint(environment)): \($0)" }
        }
        guard !lines.isEmpty else { return }
        throw CommandFault(
            "cannot reach \(lines.joined(separator: ", nor ")); see risk.endpoints, risk.proxy and risk.authorities."
        )
    }

    private static func tag(_ environment: Environment) -> UInt64 { environment == .production ? 0 : 1 }
}
