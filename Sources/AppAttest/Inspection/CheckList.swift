/// The checks of one kind of object, in order, before their outcome is known.
struct CheckList {
    struct Step {
        let name: String
        let refusals: [Refusal]
        /// The reasons whose values are shown where the check did not fail.
        let shown: [Refusal]

        /// - Parameter shown: nil = the last reason's.
        init(_ name: String, _ refusals: [Refusal], shown: [Refusal]? = nil) {
            self.name = name
            self.refusals = refusals
            self.shown = shown ?? Array(refusals.suffix(1))
        }

        init(_ name: String, _ refusals: Refusal...) { self.init(name, refusals) }
    }

    let steps: [Step]

    /// - Parameters:
    ///   - failure: the verdict and the step that gave it, if several steps share its reason.
    ///   - notJudged: steps that have nothing to compare with.
    ///   - compare: what the object presents where a reason is judged, beside what is expected.
    func outcomes(
        _ failure: Refusal?,
        at name: String? = nil,
        notJudged: Set<String>,
        compare: (Refusal) -> Comparison?
    ) -> [ReportCheck] {
        let failed = failure.flatMap { refusal in
            steps.firstIndex { $0.name == name } ?? steps.firstIndex { $0.refusals.contains(refusal) }
        }
        return steps.enumerated().map { index, step in
            let outcome: ReportCheck.Outcome
            switch (failed, failure) {
            case (let failed?, let refusal?) where index == failed: outcome = .failed(refusal)
            case (let failed?, _) where index > failed: outcome = .notReached
            default: outcome = notJudged.contains(step.name) ? .notJudged : .passed
            }
            var shown = step.shown
            if case .failed(let refusal) = outcome { shown = [refusal] }
            return ReportCheck(
                name: step.name,
                codes: step.refusals.map(\.code),
                outcome: outcome,
                comparisons: outcome == .notJudged ? [] : shown.compactMap(compare)
            )
        }
    }
}

extension CheckList {
    static let attestation = CheckList(steps: [
        Step("object", .malformedAttestation),
        Step("format", .badFormat),
        Step("certificates", .badCertificate),
        Step("chain", .chain),
        Step("dates", dates, shown: dates),
        Step("nonce", .nonceMissing, .nonceMalformed, .nonceMismatch),
        Step("authenticator data", .malformedAuthData, .flags),
        Step("access control", .aclMissing, .aclMismatch),
        Step("key", .keyType, .keyIDMismatch),
        Step("app ID", .appIDMismatch),
        Step("counter", .counterNotZero),
        Step("environment", .aaguidUnknown, .environmentMismatch),
        Step("credential ID", .credentialIDLength, .credentialIDMismatch),
        Step("COSE key", .coseKeyMismatch),
        Step("extension map", .malformedAuthData, .extensionsNotExpected),
        Step("validation category", .categoryMissing, .categoryNotAllowed),
        Step("bundle version", .bundleVersionMissing, .bundleVersionNotAllowed),
        Step(
            "receipt",
            ReceiptRefusal.allCases.map { .receipt($0) },
            shown: [.receipt(.appID), .receipt(.clientHash), .receipt(.tooOld)]
        ),
    ])

    private static let dates = Refusal.CertificateRole.allCases.map { Refusal.expiredOrNotYetValid($0) }

    static let assertion = CheckList(steps: [
        Step("object", .malformedAssertion),
        Step("key", .keyInvalid),
        Step("signature", .signatureInvalid),
        Step("app ID", .appIDMismatch),
        Step("validation category", .categoryMissing, .categoryNotAllowed),
        Step("bundle version", .bundleVersionMissing, .bundleVersionNotAllowed),
    ])

    static let receipts = CheckList(steps: ReceiptRefusal.allCases.map { Step($0.rawValue, .receipt($0)) })
}
