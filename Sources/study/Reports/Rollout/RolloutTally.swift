internal import AppCheck
internal import Settings

/// The events of one app, counted.
package struct RolloutTally: Equatable {
    package init() {}

    /// Exchanges, attestations and assertions, that ended in a token.
    package var successes = 0
    package var notAdmitted = 0
    /// Attestations at the present share, or of events without one: growth is judged by these. Assertions are many, are
    /// never gated and hardly ever fail; they would hide the failures of new devices.
    var attested = 0
    var attestationsFailed = 0
    /// The reasons of events without a device.
    private var nameless: [String: Int] = [:]
    private var failedDevices: [FailedDevice: String] = [:]
    /// Devices whose failed attestation is counted already at the present share.
    private var failedAttesters: Set<UInt64> = []

    private struct FailedDevice: Hashable {
        let device: UInt64
        let isAttestation: Bool
    }

    /// Failures by reason. A device that is refused again and again counts as one failure, under the alphabetically first of its
    /// reasons: a stock client repeats a refused attestation at once, with another key.
    package var failures: [String: Int] { failedDevices.values.reduce(into: nameless) { $0[$1, default: 0] += 1 } }
    package var failed: Int { failedDevices.count + nameless.values.reduce(0, +) }
    package var decided: Int { successes + failed }

    /// - Parameter parts: the app's present share; nil = unknown app.
    mutating func add(_ event: Event, parts: Int64?) {
        switch event.kind {
        case .success: successes += 1
        case .failure: addFailure(event)
        case .notAdmitted, .risk, .other: return notAdmitted += 1
        }
        guard event.isAttestation, event.parts == nil || event.parts == parts else { return }
        if event.kind == .failure {
            if let device = event.device, !failedAttesters.insert(device).inserted { return }
            attestationsFailed += 1
        }
        attested += 1
    }

    private mutating func addFailure(_ event: Event) {
        let reason = event.reason ?? "unknown"
        guard let device = event.device else { return nameless[reason, default: 0] += 1 }
        let failed = FailedDevice(device: device, isAttestation: event.isAttestation)
        // Whatever the order of the partitions, the same reason must stay.
        failedDevices[failed] = min(failedDevices[failed] ?? reason, reason)
    }

    /// Percent; nil where no exchange was decided.
    package static func rate(_ failed: Int, of decided: Int) -> Double? {
        decided == 0 ? nil : Double(failed) / Double(decided) * 100
    }
}

/// The rule by which a share may grow: enough devices have attested at the present one, and few of them failed.
package struct GrowthRule: Equatable {
    package init() {}

    /// If 200 are decided and none failed, the true rate is below 1.5 % (95 % sure).
    package var minAttestations = 200
    /// Percent.
    package var maxFailureRate = 1.0

    /// The shares to grow by, in percent: each step shows more devices than all before it.
    private static let steps: [Int64] = [1, 5, 10, 25, 50, 100]

    /// The step after a share, both in parts of ``Rollout/whole``; nil after all.
    static func next(after parts: Int64) -> Int64? {
        steps.lazy.map { $0 * (Rollout.whole / 100) }.first { $0 > parts }
    }

    /// - Returns: the answer and its reason.
    func judge(_ tally: RolloutTally, _ rollout: Rollout) -> (mayGrow: Bool, why: String) {
        guard rollout.mode != .off else { return (false, "rollout is off: all devices are admitted") }
        guard rollout.mode == .shadow || rollout.parts < Rollout.whole else { return (false, "the share is 100 %") }
        guard let rate = RolloutTally.rate(tally.attestationsFailed, of: tally.attested),
            tally.attested >= minAttestations
        else {
            let count = "\(tally.attested.grouped) of \(minAttestations.grouped)"
            return (false, "only \(count) attestations decided at this share")
        }
        let fact = "\(PercentFigure.text(rate)) of \(tally.attested.counted("attestation")) failed"
        return (
            rate <= maxFailureRate,
            rate <= maxFailureRate ? fact : "\(fact), over \(PercentFigure.text(maxFailureRate))"
        )
    }
}

/// Percentages for people: two decimal places, rounded up so that a failure never shows as none.
package enum PercentFigure {
    package static func text(_ percent: Double) -> String {
        // A tiny bit less, so that 0.57 does not show as 0.58 because of its representation as a double.
        let hundredths = Int((percent * 100 - 1e-9).rounded(.up))
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100) %"
    }
}
