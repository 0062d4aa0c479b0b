/// Milliseconds since 1970 UTC: below the worker every time has this type and is an argument.
package struct EvaluationTime: Hashable, Comparable, Sendable {
    package let milliseconds: Int64
    package init(milliseconds: Int64) { self.milliseconds = milliseconds }
    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}
