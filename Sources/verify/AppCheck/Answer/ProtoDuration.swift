/// A length of time as proto3 JSON writes it: decimal seconds with at most nine decimal places, and `s`.
package struct ProtoDuration: Hashable, Sendable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) {
        precondition(nanoseconds >= 0, "a life is never negative")
        self.nanoseconds = nanoseconds
    }

    package init(milliseconds: Int64) {
        self.init(nanoseconds: min(milliseconds, Int64.max / 1_000_000) * 1_000_000)
    }

    /// - Returns: nil for any other text, and for what does not fit 292 years.
    package init?(_ text: String) {
        guard text.last == "s" else { return nil }
        let halves = text.dropLast().split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = halves.count == 2 ? halves[1] : "0"
        guard halves.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isASCII && $0.isNumber } }), fraction.count <= 9,
            let seconds = Int64(halves[0]),
            let rest = Int64(fraction + String(repeating: "0", count: 9 - fraction.count))
        else { return nil }
        let (product, productOverflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, sumOverflow) = product.addingReportingOverflow(rest)
        guard !productOverflow, !sumOverflow else { return nil }
        nanoseconds = sum
    }

    /// The seconds with no, three, six or nine decimal places, as many as the value needs.
    package var text: String {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        guard rest != 0 else { return "\(seconds)s" }
        // A leading one keeps the zeros after the point.
        var digits = String(String(1_000_000_000 + rest).dropFirst())
        while digits.hasSuffix("000") { digits.removeLast(3) }
        return "\(seconds).\(digits)s"
    }
}
