package import AppAttest

/// What a line needs to know of a receipt; the headers of its record say it, so that nobody decodes a receipt to wait.
package struct ReceiptDates: Sendable, Equatable {
    package var type: ReceiptType
    package var createdAt: EvaluationTime
    package var notBefore: EvaluationTime?
    /// nil = unknown before the receipt is read.
    package var expiresAt: EvaluationTime?

    package init(
        type: ReceiptType,
        createdAt: EvaluationTime,
        notBefore: EvaluationTime? = nil,
        expiresAt: EvaluationTime? = nil
    ) {
        (self.type, self.createdAt, self.notBefore, self.expiresAt) = (type, createdAt, notBefore, expiresAt)
    }

    /// Reads the values of the headers `type`, `created-at` and `not-before`.
    ///
    /// - Returns: nil where type or creation is missing, or one of them is not what the worker writes.
    package init?(type: [UInt8]?, createdAt: [UInt8]?, notBefore: [UInt8]?) {
        let known = ReceiptType.allCases.first { Array($0.rawValue.utf8) == type }
        guard let known, let creation = createdAt.flatMap(Self.time) else { return nil }
        self.init(type: known, createdAt: creation, notBefore: notBefore.flatMap(Self.time))
        if notBefore != nil, self.notBefore == nil { return nil }
    }

    /// The dates that a receipt itself has, its expiry among them.
    ///
    /// - Returns: nil for a type that Apple does not document.
    package init?(_ receipt: ReceiptContent) {
        guard let type = receipt.type else { return nil }
        self.init(
            type: type,
            createdAt: receipt.createdAt,
            notBefore: receipt.notBefore,
            expiresAt: receipt.expiresAt
        )
    }

    package func isExpired(at time: EvaluationTime) -> Bool { expiresAt.map { $0 < time } ?? false }

    /// Decimal milliseconds; more digits than 15 name no year that a receipt can.
    private static func time(_ text: [UInt8]) -> EvaluationTime? {
        Milliseconds.number(text, mostDigits: 15).map { EvaluationTime(milliseconds: $0) }
    }
}
