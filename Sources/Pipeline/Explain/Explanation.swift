package import AppAttest
package import AppCheck
internal import Log

/// Why a record got its verdict: the verdict is the pipeline's own, the details come from a second look at the record.
package struct Explanation: Sendable {
    /// As in a result: `accepted`, `refused`, `deferred`; or `dead-letter`.
    package let verdict: String
    package let reason: String?
    package let record: DecodedRecord
    /// A request that was answered before.
    package let isDuplicate: Bool
    /// As ``RegisteredApp/name``; nil where the path names no configured app.
    package let app: String?
    package let method: Method?
    package let keyID: KeyID?
    /// The key and the times that the record met.
    package let state: [ReportField]
    /// The device's object, as far as it can be read.
    package let object: ObjectReport?
    package let device: DeviceFacts
    /// Of an unknown key: its attestation, which was not accepted.
    package let attestation: EarlierRefusals.Refusal?
    package let checks: [ExplainedCheck]

    /// The reason that the second look found; nil = no check failed.
    package var secondReason: String? { checks.firstFailure }

    /// Whether both looks give the same reason. A duplicate is not looked at again.
    package var agrees: Bool { isDuplicate ? reason == nil : secondReason == reason }

    /// What was presented and expected where the pipeline's reason is judged; before it, what has led to it.
    package var comparisons: [Comparison] { (attestation.map { [$0.comparison] } ?? []) + ownComparisons }

    private var ownComparisons: [Comparison] {
        checks.first { $0.outcome == reason.map { .failed($0) } }?.comparisons ?? []
    }
}

/// What an object and its key's record say of the device; each nil if neither does.
package struct DeviceFacts: Sendable, Equatable {
    package internal(set) var platform: String?
    package internal(set) var osVersion: String?
    package internal(set) var category: UInt32?
    package internal(set) var bundleVersion: String?
    package internal(set) var environment: String?
    /// The Apple App ID that an attestation presents.
    package internal(set) var appID: String?
}

package struct ExplainedCheck: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case passed
        /// With the reason's name.
        case failed(String)
        /// It failed, and the app's policy only reports that.
        case reported(String)
        /// An earlier check failed.
        case notReached
        /// With the cause.
        case notJudged(String)
    }

    package let name: String
    package let outcome: Outcome
    package let comparisons: [Comparison]
}

extension [ExplainedCheck] {
    var firstFailure: String? {
        for check in self {
            if case .failed(let reason) = check.outcome { return reason }
        }
        return nil
    }
}

/// The checks of one record in the order in which the pipeline judges them.
struct CheckWalk {
    private(set) var checks: [ExplainedCheck] = []
    private var hasFailed = false

    mutating func add(_ name: String, _ failure: String?, _ comparisons: [Comparison]) {
        let outcome = hasFailed ? .notReached : failure.map { ExplainedCheck.Outcome.failed($0) } ?? .passed
        hasFailed = hasFailed || failure != nil
        checks.append(ExplainedCheck(name: name, outcome: outcome, comparisons: comparisons))
    }

    mutating func add(_ name: String, _ failure: Reason?, _ comparison: Comparison?) {
        add(name, failure?.code, comparison.map { [$0] } ?? [])
    }

    /// - Parameter isMet: whether the check passes; else it fails for `reason`.
    mutating func add(_ name: String, _ isMet: Bool, else reason: Reason, _ comparison: Comparison?) {
        add(name, isMet ? nil : reason, comparison)
    }

    mutating func skip(_ name: String, _ cause: String) {
        let outcome = hasFailed ? ExplainedCheck.Outcome.notReached : .notJudged(cause)
        checks.append(ExplainedCheck(name: name, outcome: outcome, comparisons: []))
    }

    mutating func add(_ found: [RequestCheck]) {
        for check in found { add(check.name, check.failure, check.comparison) }
    }

    mutating func add(_ check: ReportCheck) {
        switch check.outcome {
        case .passed: add(check.name, nil as String?, check.comparisons)
        case .failed(let refusal): add(check.name, refusal.code, check.comparisons)
        case .reported(let refusal):
            let outcome = hasFailed ? ExplainedCheck.Outcome.notReached : .reported(refusal.code)
            checks.append(ExplainedCheck(name: check.name, outcome: outcome, comparisons: check.comparisons))
        case .notReached:
            checks.append(ExplainedCheck(name: check.name, outcome: .notReached, comparisons: check.comparisons))
        case .notJudged: skip(check.name, "the object does not have this part, or the app does not ask for it")
        }
    }
}
