internal import AppAttest
internal import AppCheck
internal import JSON

/// Risk policies that refuse honest devices, or that a hostile one avoids.
enum RiskDoubts {
    private static let leastUsual: UInt16 = 5

    static func warnings(_ registry: Registry) -> [String] {
        registry.apps.flatMap { app -> [String] in
            guard let most = app.risk.mostServed else { return [] }
            return [low(most, app), avoidable(app)].compactMap { $0 }
        }
    }

    /// Reinstalling, restoring and moving to a new device count too.
    private static func low(_ most: UInt16, _ app: RegisteredApp) -> String? {
        guard most < leastUsual else { return nil }
        return
            "apps.json: \(app.label.printable): risk.above is \(most): devices whose users have reinstalled the app "
            + "a few times in 30 days are refused; set it to \(leastUsual) or more, or risk.mode to report"
    }

    /// Apple signs the receipt apart from the attestation.
    private static func avoidable(_ app: RegisteredApp) -> String? {
        guard app.expectations.receipt != .require else { return nil }
        return
            "apps.json: \(app.label.printable): risk.mode is refuse and receipt is report: a device that leaves the "
            + "receipt out never has a metric and is served; set receipt to require"
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
