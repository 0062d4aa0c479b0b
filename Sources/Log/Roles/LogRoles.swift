/// The pipeline's only boundary: three roles, each with its own owner. One object may play several.
package struct LogRoles {
    /// What the unit takes.
    package enum Output {
        case records(any RecordUnit)
        case packed(any PackedUnit)
        case detached(any DetachedUnit)
    }

    package let source: any RequestSource
    package let output: Output
    /// nil = there is no ledger topic: nothing is restored, and no ledger record is written.
    package let ledgers: (any LedgerSource)?

    package init(source: any RequestSource, unit: any RecordUnit, ledgers: (any LedgerSource)? = nil) {
        (self.source, output, self.ledgers) = (source, .records(unit), ledgers)
    }

    package init(source: any RequestSource, packed unit: any PackedUnit, ledgers: (any LedgerSource)? = nil) {
        (self.source, output, self.ledgers) = (source, .packed(unit), ledgers)
    }

    package init(source: any RequestSource, detached unit: any DetachedUnit, ledgers: (any LedgerSource)? = nil) {
        (self.source, output, self.ledgers) = (source, .detached(unit), ledgers)
    }

    package var unit: any OutputUnit {
        switch output {
        case .records(let unit): unit
        case .packed(let unit): unit
        case .detached(let unit): unit
        }
    }

    /// The unit, where it is written away from the loop's thread.
    package var detached: (any DetachedUnit)? {
        switch output {
        case .detached(let unit): return unit
        case .packed: return nil
        case .records(let unit):
            guard let detached = unit as? any DetachedUnit else { return nil }
            return detached.isDetached ? detached : nil
        }
    }

    /// nil = the unit takes records.
    package var packer: (@Sendable ([OutboundRecord]) -> [PackedOutput])? {
        if case .packed(let unit) = output { unit.packer } else { nil }
    }
}
