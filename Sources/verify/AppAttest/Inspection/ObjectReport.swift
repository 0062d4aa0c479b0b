/// An object explained: its fields as far as they can be read, and its checks in the order in which they are judged.
package struct ObjectReport: Sendable, Equatable {
    package enum Kind: String, Sendable { case attestation, assertion, receipt }

    package let kind: Kind
    package let fields: [ReportField]
    package private(set) var checks: [TracedCheck]

    /// The first failed check's reason, by name; nil if all that could be judged passed.
    package var reason: String? { checks.firstFailure }

    /// The check of ``reason``.
    package var failedCheck: TracedCheck? { checks.first(where: \.hasFailed) }

    /// The same report with what ``failedCheck`` would read.
    package func with(_ reading: FittingReading?) -> ObjectReport {
        guard let reading, let failed = checks.firstIndex(where: \.hasFailed) else { return self }
        var report = self
        report.checks[failed].reading = reading
        return report
    }
}

extension TracedCheck {
    fileprivate var hasFailed: Bool { if case .failed = outcome { true } else { false } }
}

extension [TracedCheck] {
    package var firstFailure: String? {
        for check in self {
            if case .failed(let reason) = check.outcome { return reason }
        }
        return nil
    }
}

/// One field by its path in the object, such as `leaf.notAfter`.
package struct ReportField: Sendable, Equatable {
    package let name: String
    package let value: ReportValue

    package init(name: String, value: ReportValue) { (self.name, self.value) = (name, value) }
}
