package import AppAttest

/// A record of the receipts topic as a line sees it. Who runs the line keeps the bytes, by offset.
package struct LineRecord: Sendable, Equatable {
    package let offset: Int64
    /// nil = nothing to visit: a tombstone, or headers that say too little.
    package let appointment: LineAppointment?

    package init(offset: Int64, appointment: LineAppointment?) {
        (self.offset, self.appointment) = (offset, appointment)
    }
}

/// A receipt that waits for its visit.
package struct LineAppointment: Sendable, Equatable {
    package let dates: ReceiptDates
    package let account: CallAccount

    package init(dates: ReceiptDates, account: CallAccount) { (self.dates, self.account) = (dates, account) }
}

/// A visit of a receipt, due or begun.
package struct LineVisit: Sendable, Equatable {
    package let offset: Int64
    package let due: EvaluationTime
    /// How often it was kept before.
    package let keptBefore: Int
    /// How often it ended as ``VisitEnd/refused(until:)`` before.
    package let refusedBefore: Int
    package let appointment: LineAppointment
}

/// How a visit ended.
package enum VisitEnd: Sendable, Equatable {
    /// Nothing is left to do, and what the answer led to is acknowledged: the position may pass it.
    case done
    /// It waits for another visit, not before that time.
    case kept(until: EvaluationTime)
    /// Kept as well; the fault seems its receipt's.
    case refused(until: EvaluationTime)
}
