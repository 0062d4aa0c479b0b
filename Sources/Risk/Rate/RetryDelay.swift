/// How long a kept visit waits for the next one: random over the whole span (full jitter), so that what failed together
/// does not come back together.
package enum RetryDelay {
    package static let least = Milliseconds.second
    package static let most = 5 * Milliseconds.minute
    /// Doubled so often the span is as long as it gets.
    private static let mostDoublings = 9

    /// - Parameters:
    ///   - keptBefore: how often the visit was kept before.
    /// - Returns: milliseconds: 1 to 2 s at first, 1 s to 5 min in the end.
    package static func milliseconds(
        keptBefore: Int,
        using random: inout some RandomNumberGenerator
    ) -> Int64 {
        Int64.random(in: least...longest(keptBefore: keptBefore), using: &random)
    }

    package static func longest(keptBefore: Int) -> Int64 {
        min(most, least << Int64(min(max(0, keptBefore), mostDoublings) + 1))
    }
}
