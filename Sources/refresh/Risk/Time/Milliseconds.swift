package import AppAttest

/// Spans of time in the unit that all of this module counts in.
package enum Milliseconds {
    package static let second: Int64 = 1_000
    package static let minute: Int64 = 60 * second
    package static let hour: Int64 = 60 * minute
    package static let day: Int64 = 24 * hour

    /// A decimal number as headers have them: digits alone.
    ///
    /// - Parameter mostDigits: 18 at most, so that no text overflows.
    static func number(_ text: Span<UInt8>, mostDigits: Int) -> Int64? {
        guard (1...min(18, max(1, mostDigits))).contains(text.count) else { return nil }
        var value: Int64 = 0
        for index in text.indices {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + Int64(digit)
        }
        return value
    }
}

/// Sums that stay numbers, whatever a receipt or a setting says.
extension EvaluationTime {
    package func after(milliseconds: Int64) -> EvaluationTime {
        EvaluationTime(milliseconds: self.milliseconds.clampedAdding(milliseconds))
    }

    /// Milliseconds from `other` until this time.
    package func since(_ other: EvaluationTime) -> Int64 { milliseconds.clampedSubtracting(other.milliseconds) }

    package static let never = EvaluationTime(milliseconds: .max)
}
