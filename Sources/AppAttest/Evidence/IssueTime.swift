/// The time at which a leaf was issued: orders a key's attestations.
///
/// Apple backdates every leaf by the same day and numbers it by the millisecond of its issue.
package struct IssueTime: Hashable, Comparable, Sendable {
    package let notBefore: EvaluationTime
    /// The serial number; numbers beyond 63 bits, far above Apple's, count as equal.
    package let serial: Int64

    package init(notBefore: EvaluationTime, serial: Int64) {
        self.notBefore = notBefore
        self.serial = serial
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.notBefore, left.serial) < (right.notBefore, right.serial)
    }
}
