/// How outputs and offsets are committed.
package enum Delivery: String, Sendable, CaseIterable {
    case exactlyOnce = "exactly-once"
    case atLeastOnce = "at-least-once"
}
