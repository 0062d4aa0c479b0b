/// A check that was made: its name, its outcome, and what was presented and expected there.
package struct TracedCheck: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case passed
        /// The check failed, with the reason's name.
        case failed(String)
        /// The check failed, and the app's policy only reports that.
        case reported(String)
        /// An earlier check failed.
        case notReached
        /// There was nothing to judge by, with the cause; nil = the object does not have this part.
        case notJudged(String?)
    }

    package let name: String
    package let outcome: Outcome
    package let comparisons: [Comparison]
    /// The other reading under which a failed check passes; nil where none was sought or found.
    package var reading: FittingReading?

    package init(_ name: String, _ outcome: Outcome, _ comparisons: [Comparison] = []) {
        (self.name, self.outcome, self.comparisons) = (name, outcome, comparisons)
    }
}

/// Another way to read what was sent, under which a failed check passes. It explains a refusal and changes none.
package struct FittingReading: Sendable, Equatable {
    package let name: String
    /// The app's mistake and its remedy, for the app's developer.
    package let sentence: String

    package init(name: String, sentence: String) { (self.name, self.sentence) = (name, sentence) }
}

/// Keeps each check, for people.
package final class CheckTrace: CheckTracer {
    package static let keepsChecks = true

    package let knownAppIDs: [AppID]
    private let showsPassed: Bool
    /// The checks in the order in which they were made.
    package private(set) var checks: [TracedCheck] = []

    /// - Parameter showsPassed: what is presented and expected at checks that pass is kept, too.
    package init(knownAppIDs: [AppID] = [], showsPassed: Bool = true) {
        (self.knownAppIDs, self.showsPassed) = (knownAppIDs, showsPassed)
    }

    package func note(
        _ name: @autoclosure () -> String,
        _ outcome: @autoclosure () -> TracedCheck.Outcome,
        adds: Bool,
        _ comparisons: () -> [Comparison]
    ) {
        let (name, outcome) = (name(), outcome())
        let place = checks.firstIndex { $0.name == name }
        let earlier = place.map { adds ? checks[$0].comparisons : [] } ?? []
        let shown = showsPassed || outcome != .passed ? comparisons() : []
        let check = TracedCheck(name, outcome, earlier + shown)
        if let place { checks[place] = check } else { checks.append(check) }
    }

    package func part() -> CheckTrace { CheckTrace(knownAppIDs: knownAppIDs) }

    package func comparisons(at names: [String]) -> [Comparison] {
        names.flatMap { name in checks.first { $0.name == name }?.comparisons ?? [] }
    }

    /// The checks in the order of `names`, which may differ from the order in which they were made: signatures are
    /// verified last. Those after the first failure count as not reached, and show no values.
    ///
    /// - Parameter notJudged: checks that were made with nothing to compare with.
    func checks(_ names: [String], notJudged: Set<String> = []) -> [TracedCheck] {
        assert(checks.allSatisfy { names.contains($0.name) }, "each check has its place in the list")
        var hasFailed = false
        return names.map { name in
            guard !hasFailed else { return TracedCheck(name, .notReached) }
            guard let check = checks.first(where: { $0.name == name }) else {
                return TracedCheck(name, .notJudged(nil))
            }
            if case .failed = check.outcome { hasFailed = true }
            if notJudged.contains(name), check.outcome == .passed { return TracedCheck(name, .notJudged(nil)) }
            return check
        }
    }
}

/// The checks of each kind of object, in Apple's order.
package enum CheckNames {
    package static let attestation = [
        "object", "format", "certificates", "chain", "dates", "nonce", "authenticator data", "access control", "key",
        "app ID", "counter", "environment", "credential ID", "COSE key", "extension map", "validation category",
        "bundle version", "receipt",
    ]
    package static let assertion = ["object", "key", "signature", "app ID", "validation category", "bundle version"]
    static let receipt = ReceiptRefusal.allCases.map(\.rawValue)
}
