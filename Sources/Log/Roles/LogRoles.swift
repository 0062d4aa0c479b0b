/// The pipeline's only boundary: three roles, each with its own owner. One object may play several.
package struct LogRoles {
    /// The form in which the unit takes its outputs.
    package enum Output {
        case records(any RecordUnit)
        case packed(any PackedUnit)
    }

    package let source: any RequestSource
    package let output: Output
    /// Whether there is a ledger topic; if not, nothing is restored, and no ledger record is written.
    package let hasLedgers: Bool

    package init(source: any RequestSource, unit: any RecordUnit, hasLedgers: Bool = false) {
        (self.source, output, self.hasLedgers) = (source, .records(unit), hasLedgers)
    }

    package init(source: any RequestSource, packed unit: any PackedUnit, hasLedgers: Bool = false) {
        (self.source, output, self.hasLedgers) = (source, .packed(unit), hasLedgers)
    }

    package var unit: any OutputUnit {
        switch output {
        case .records(let unit): unit
        case .packed(let unit): unit
        }
    }

    /// nil = the unit takes records.
    package var packer: (@Sendable ([OutboundRecord]) -> [PackedOutput])? {
        if case .packed(let unit) = output { unit.packer } else { nil }
    }
}

/// A fault of the world in the log. All other faults end the loop.
package protocol LogFault: Error {
    /// The log cannot go on, whatever is retried.
    var endsLoop: Bool { get }
    /// The work in progress must be aborted; otherwise the same call may be made again.
    var requiresAbort: Bool { get }
    /// The log refuses one of the appended records on every try: too large, for example.
    var isRecordFault: Bool { get }
    /// Another process acts under this one's name.
    var isFenced: Bool { get }
    /// The unit ran out of time: the share of its records acknowledged until then, 0 to 1. nil = another fault.
    var acknowledgedShare: Double? { get }
}

extension LogFault {
    package var isRecordFault: Bool { false }
    package var isFenced: Bool { false }
    package var acknowledgedShare: Double? { nil }
}
