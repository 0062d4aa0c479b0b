package import AppAttest

/// Spans of time in the unit that all of this module counts in.
package enum Milliseconds {
    package static let second: Int64 = 1_000
    package static let minute: Int64 = 60 * second
    package static let hour: Int64 = 60 * minute
    package static let day: Int64 = 24 * hour

    /// A decimal number as headers have them: digits alone.
    ///
    /// - Parameter mostDigits: a text with more of them is not one.
    static func number(_ text: some Collection<UInt8>, mostDigits: Int) -> Int64? {
        guard text.count <= mostDigits, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(String(decoding: text, as: UTF8.self))
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
