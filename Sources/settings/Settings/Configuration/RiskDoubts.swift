internal import AppAttest
internal import AppCheck

/// Risk policies that refuse honest devices, or that a hostile one avoids.
enum RiskDoubts {
    private static let leastUsual: UInt16 = 5

    static func warnings(_ registry: Registry) -> [String] {
        registry.apps.flatMap { app -> [String] in
            guard let most = app.risk.mostServed else { return [] }
            var problems: [String] = []
            // Reinstalling, restoring and moving to a new device count too.
            if most < leastUsual {
                problems.append(
                    "risk.above is \(most): devices whose users have reinstalled the app a few times in 30 days are refused; "
                        + "set it to \(leastUsual) or more, or risk.mode to report"
                )
            }
            // Apple signs the receipt apart from the attestation.
            if app.expectations.receipt != .require {
                problems.append(
                    "risk.mode is refuse and receipt is report: a device that leaves the receipt out never has a metric and is "
                        + "served; set receipt to require"
                )
            }
            return problems.map { "apps.json: \(app.label.printable): \($0)" }
        }
    }
}
