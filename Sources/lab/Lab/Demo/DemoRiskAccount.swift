internal import AppCheck
internal import CommandFrame
internal import JSON
internal import Reports
internal import Settings
internal import Study
internal import Traffic

/// The account of a device that attests for others: how its metric climbs, and where the worker refuses it.
struct DemoRiskAccount {
    private static let refusal = "risk-too-high"

    private struct Row {
        let key: String
        let metric: Int64?
        let outcome: String?
        let text: String?

        /// A key is served up to the limit, and a metric is there.
        var isExpected: Bool {
            guard let metric else { return false }
            return outcome == (metric > Int64(DemoRisk.mostServed) ? DemoRiskAccount.refusal : "accepted")
        }
    }

    let calls: Int
    let report: RiskReport
    private let rows: [Row]

    init(_ device: BrokerDevice, outputs: [DemoOutput], calls: Int, report: RiskReport) {
        (self.calls, self.report) = (calls, report)
        let byID = Dictionary(outputs.map { ($0.requestID, $0) }, uniquingKeysWith: { first, _ in first })
        let rows = device.keyIDs.map { keyID in
            let output = byID[BrokerDevice.assertionID(of: keyID)]
            let result = output.flatMap { try? JSONDocument(parsing: Array($0.text.utf8)).root }
            return Row(
                key: String(decoding: keyID.recordKey.prefix(8), as: UTF8.self) + "…",
                metric: result?["evidence"]?["risk"]?["metric"]?.integer,
                outcome: output?.outcome,
                text: output?.text
            )
        }
        self.rows = rows.sorted { ($0.metric ?? 0) < ($1.metric ?? 0) }
    }

    /// - Returns: the exit code: 0 when the metric climbs from 1, and exactly the keys above the limit are refused.
    func print(on console: Console) -> Int32 {
        console.print(
            """

            A device that attests for others: \(rows.count) keys of one app on one phone. refresh-receipts, the service that
            asks Apple for the fraud risk metric, exchanged every receipt of this demo at a double of Apple (\(calls) calls).
            The app refuses keys above \(DemoRisk.mostServed):
            """
        )
        var table = TextTable([.left, .right, .left])
        table.add("key", "metric", "its next assertion")
        for row in rows {
            let outcome = row.outcome.map { $0 == "accepted" ? $0 : "refused: \($0)" } ?? "no outcome"
            table.add(row.key, row.metric.map { "\($0)" } ?? "none", outcome)
        }
        console.print(table.text)
        if let text = rows.last?.text {
            console.print("\nThe last refusal:\n  \(text)")
        }
        console.print("\nWhat `attest-worker risk` says of the demo's events:\n\(report.text)")
        let climb = rows.map(\.metric) == (0..<rows.count).map { Int64($0 + 1) }
        if !climb { console.print("UNEXPECTED: the metrics do not climb from 1 to \(rows.count)") }
        for row in rows where !row.isExpected { console.print("UNEXPECTED: key \(row.key)") }
        return climb && rows.allSatisfy(\.isExpected) ? ExitCode.done : ExitCode.failed
    }
}
