package import AppAttest

/// A line's reading of a partition: what the group hands out.
package struct LinePair: Hashable, Sendable {
    package let line: ReceiptLine
    package let partition: Int32

    package init(line: ReceiptLine, partition: Int32) { (self.line, self.partition) = (line, partition) }
}

/// A call that should begin now: the receipt of this record, with this token.
package struct DeskCall: Sendable, Equatable {
    package let pair: LinePair
    package let visit: LineVisit
    package let grant: ProviderTokens.Grant
    /// Counts the assignments: an answer after a revocation belongs to nobody.
    let assignment: Int

    package var account: CallAccount { visit.appointment.account }
    var receipt: ReceiptPlace { ReceiptPlace(partition: pair.partition, offset: visit.offset) }
}

/// What to do next.
package enum DeskStep: Sendable, Equatable {
    case call(DeskCall)
    /// Nothing before that time, unless a record, an answer or an acknowledgement comes; nil = only after one of these.
    case wait(until: EvaluationTime?)
}

/// What an answer leads to, beside what becomes of its visit.
package struct DeskEffect: Sendable, Equatable {
    /// The new receipt must be produced, then acknowledged to the desk.
    package var mustProduce = false
    /// What has happened to the account's breaker.
    package var breaker: CallBreaker.Change?
    package var hasLoweredRate = false
    /// Apple has refused this receipt alone, so often that its visit is over.
    package var endsRefused = false
    /// Many receipts are too early, and the clocks differ.
    package var suspectsClock = false
}
