/// The pipeline's only boundary: three roles, each with its own owner. One object may play several.
package struct StreamRoles {
    /// The form in which the transaction takes its outputs.
    package enum Output {
        case records(any RecordTransaction)
        case packed(any PackedTransaction)
    }

    package let source: any RequestSource
    package let output: Output
    /// Whether there is a ledger topic; if not, nothing is restored, and no ledger record is written.
    package let hasLedgers: Bool

    package init(source: any RequestSource, transaction: any RecordTransaction, hasLedgers: Bool = false) {
        (self.source, output, self.hasLedgers) = (source, .records(transaction), hasLedgers)
    }

    package init(source: any RequestSource, packed transaction: any PackedTransaction, hasLedgers: Bool = false) {
        (self.source, output, self.hasLedgers) = (source, .packed(transaction), hasLedgers)
    }

    package var transaction: any OutputTransaction {
        switch output {
        case .records(let transaction): transaction
        case .packed(let transaction): transaction
        }
    }

    /// nil = the transaction takes records.
    package var packer: (@Sendable (consuming [OutboundRecord]) -> [PackedOutput])? {
        if case .packed(let transaction) = output { transaction.packer } else { nil }
    }
}

/// A fault of the world behind the streams. All other faults end the loop.
package protocol SourceFault: Error {
    /// The streams cannot go on, whatever is retried.
    var endsLoop: Bool { get }
    /// The work in progress must be aborted; otherwise the same call may be made again.
    var requiresAbort: Bool { get }
    /// One of the written records is refused on every try: too large, for example.
    var isRecordFault: Bool { get }
    /// The topic whose setting refuses the record for its size; nil = another fault.
    var limitingTopic: String? { get }
    /// Another process acts under this one's name.
    var isFenced: Bool { get }
    /// The transaction ran out of time: the share of its records acknowledged until then, 0 to 1. nil = another fault.
    var acknowledgedShare: Double? { get }
}

extension SourceFault {
    package var isRecordFault: Bool { false }
    package var limitingTopic: String? { nil }
    package var isFenced: Bool { false }
    package var acknowledgedShare: Double? { nil }
}

/// News for the operator: the work goes on, and nothing of it is dropped.
package protocol LoopNotice: SourceFault, CustomStringConvertible {}

extension LoopNotice {
    package var endsLoop: Bool { false }
    package var requiresAbort: Bool { false }
}
