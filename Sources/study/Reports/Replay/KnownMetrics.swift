internal import AppAttest
internal import AppCheck
internal import Pipeline

/// The risk metrics that a replay met, for apps that keep receipts: those that receipts brought, and those that counted
/// at later requests.
struct KnownMetrics {
    /// Keys beyond are not counted.
    private static let mostKeys = 1_000_000

    private var metrics: [KeyID: (app: Int, value: UInt16)] = [:]
    private(set) var isFull = false
    private(set) var refused = 0

    mutating func note(_ observation: Observation, _ verb: Verb?) {
        let (decoded, verdict) = (observation.record, observation.verdict)
        let isReceipt = verb?.content == .receipt
        guard verdict.isAccepted else {
            if isReceipt, case .refused = verdict.outcome { refused += 1 }
            return
        }
        guard !verdict.isDuplicate, let app = decoded.appIndex, let keyID = decoded.keyID else { return }
        var value = verdict.risk?.value
        if case .receipt(.success(let evidence)) = observation.finding { value = evidence.receipt.metric }
        guard let value else { return }
        guard metrics[keyID] != nil || metrics.count < Self.mostKeys else { return isFull = true }
        metrics[keyID] = (app, value)
    }

    var count: Int { metrics.count }

    /// Keys above their app's limit.
    func above(_ registry: Registry) -> Int {
        let limits = registry.apps.map(Self.limit)
        return metrics.values.count { $0.value > limits[$0.app] }
    }

    /// The limit as a tile's name says it.
    static func limitName(_ registry: Registry) -> String {
        let limits = Set(registry.apps.filter(\.risk.keepsReceipts).map(limit))
        return limits.count == 1 ? limits.map { "\($0)" }.joined() : "the limit"
    }

    private static func limit(_ app: RegisteredApp) -> UInt16 { app.risk.above ?? RiskReport.standardLimit }
}
