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
