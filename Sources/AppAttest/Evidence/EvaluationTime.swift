/// Milliseconds since 1970 UTC: below the worker every time has this type and is an argument.
package struct EvaluationTime: Hashable, Comparable, Sendable {
    package let milliseconds: Int64
    package init(milliseconds: Int64) { self.milliseconds = milliseconds }
    /// A time in seconds since 1970, as tokens have it: any number is taken.
    package init(seconds: Int64) { self.init(milliseconds: seconds.clampedMultiplied(by: 1000)) }
    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}
