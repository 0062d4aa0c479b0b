package import AppAttest

/// A reader of the receipts topic that stays at a fixed distance behind now. Creation grows with the offset, so a
/// partition's head is due first.
package enum ReceiptLine: Int, Sendable, CaseIterable {
    case first, again, late

    package var name: String { "\(self)" }

    /// Apple's data appears some time after a receipt's Not Before, and clocks differ.
    package static let marginMilliseconds = 10 * Milliseconds.minute

    /// Whether it exchanges a receipt of this type: only one that was never exchanged lacks its first metric.
    package func takes(_ type: ReceiptType) -> Bool { self != .first || type == .attest }

    /// When a receipt's exchange is due. Not Before wins over any setting.
    package func due(_ dates: ReceiptDates, _ settings: LineSettings) -> EvaluationTime {
        let aged = dates.createdAt.after(milliseconds: settings.distance(of: self))
        guard let notBefore = dates.notBefore else { return aged }
        return max(aged, notBefore.after(milliseconds: Self.marginMilliseconds))
    }
}

/// A receipt's age at its exchange, per line, in milliseconds.
package struct LineSettings: Sendable, Equatable {
    package var first: Int64
    package var again: Int64
    package var late: Int64

    package init(
        first: Int64 = Milliseconds.minute,
        again: Int64 = 7 * Milliseconds.day,
        late: Int64 = 30 * Milliseconds.day
    ) {
        (self.first, self.again, self.late) = (first, again, late)
    }

    package func distance(of line: ReceiptLine) -> Int64 {
        switch line {
        case .first: first
        case .again: again
        case .late: late
        }
    }
}
