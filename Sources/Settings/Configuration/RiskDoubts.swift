internal import AppCheck
internal import JSON

/// Limits of the risk metric that honest devices reach: reinstalling, restoring and moving to a new device count too.
enum RiskDoubts {
    private static let leastUsual: UInt16 = 5

    static func warnings(_ registry: Registry) -> [String] {
        registry.apps.compactMap { app in
            guard let most = app.risk.mostServed, most < leastUsual else { return nil }
            return
                "apps.json: \(app.name.printable): risk.above is \(most): devices whose users have reinstalled the app "
                + "a few times in 30 days are refused; set it to \(leastUsual) or more, or risk.mode to report"
        }
    }
}

extension SettingKind<UInt16> {
    /// A risk metric from which on keys are judged.
    static var metric: Self {
        SettingKind(
            "integer",
            range: "1 to \(UInt16.max)",
            schema: JSONSchema.integer(1...Int64(UInt16.max)),
            problem: "must be an integer from 1 to \(UInt16.max)",
            text: { "`\($0)`" }
        ) { node in node.integer.flatMap { UInt16(exactly: $0) }.flatMap { $0 > 0 ? $0 : nil } }
    }
}
