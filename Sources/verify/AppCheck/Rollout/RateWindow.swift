package import AppAttest

/// How many attestations one partition has admitted of one app in the current window.
///
/// A limit of L per second is shared by N partitions that know nothing of each other. Partition p has opened ⌊(s·L + p)
/// / N⌋ places by second s, so that all partitions together open exactly L in every second. With L ≥ N, unused places
/// end with their second: no second ever sees more than L. With L < N a place stays open until it is taken or the
/// partition's next one opens: a second after a quiet time may see up to one per partition, and the average stays L.
package struct RateWindow: Hashable, Sendable {
    /// Seconds since 1970 of the latest admission.
    package var second: Int64
    /// Admissions in that window.
    package var count: Int64

    package init(second: Int64, count: Int64) { (self.second, self.count) = (second, count) }

    /// - Parameters:
    ///   - window: the partition's window so far; nil = none.
    ///   - time: the record's. A time that goes back counts in the latest window.
    ///   - limit: per second over all partitions; 0 = none.
    ///   - partition: from 0 to `partitions` − 1.
    /// - Returns: the window with this attestation counted; nil = not admitted, the window is unchanged.
    package static func admit(
        _ window: RateWindow?,
        at time: EvaluationTime,
        limit: Int,
        partition: Int32,
        partitions: Int
    ) -> RateWindow? {
        precondition(partitions > 0 && partition >= 0, "partitions are counted from 0")
        let second = time.milliseconds / 1000 - (time.milliseconds % 1000 < 0 ? 1 : 0)
        let now = max(second, window?.second ?? second)
        guard limit > 0 else { return RateWindow(second: now, count: 1) }
        // Wide enough for any second times any limit.
        func opened(by second: Int64) -> Int128 {
            let places = Int128(second) * Int128(limit) + Int128(partition)
            let (quotient, rest) = places.quotientAndRemainder(dividingBy: Int128(partitions))
            return rest < 0 ? quotient - 1 : quotient
        }
        let isScarce = limit < partitions
        let quota = isScarce ? 1 : opened(by: now) - opened(by: now - 1)
        let isSame = window.map { isScarce ? opened(by: $0.second) == opened(by: now) : $0.second == now } ?? false
        let used = isSame ? window?.count ?? 0 : 0
        return Int128(used) < quota ? RateWindow(second: now, count: used + 1) : nil
    }
}
