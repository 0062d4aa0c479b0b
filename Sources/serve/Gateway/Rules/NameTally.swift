package import AppAttest

/// Names that calls bring and no file of this gateway has. Any sender may bring any name, so few are kept, but always those
/// that many calls bring (Misra and Gries).
struct NameTally {
    static let most = 64
    /// The pause between two accounts, in milliseconds.
    static let period: Int64 = 60_000

    private var counts: [ExactText: Int] = [:]
    private var calls = 0
    private var latest: ExactText = ""
    private var toldAt: Int64?

    mutating func note(_ name: ExactText) {
        (calls, latest) = (calls + 1, name)
        if counts[name] != nil || counts.count < Self.most { return counts[name, default: 0] += 1 }
        counts = counts.mapValues { $0 - 1 }.filter { $0.value > 0 }
    }

    /// The calls since the last account; nil where there are none, and within a minute of the last one.
    ///
    /// - Parameter now: milliseconds of a clock that never goes back.
    mutating func account(at now: Int64) -> NamedCalls? {
        guard calls > 0, toldAt.map({ now - $0 >= Self.period }) ?? true else { return nil }
        defer { (counts, calls, toldAt) = ([:], 0, now) }
        // Among equals the first by its bytes wins, so that the same calls leave the same line.
        let first = counts.max { one, other in
            one.value != other.value ? one.value < other.value : ExactText.isBefore(other.key, one.key)
        }
        return NamedCalls(count: calls, name: first?.key ?? latest)
    }
}

/// Calls with names that no file of a gateway has.
package struct NamedCalls: Sendable, Equatable {
    package let count: Int
    /// The name that most of them bring.
    package let name: ExactText
}
