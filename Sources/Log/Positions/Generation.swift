/// The assignment under which records were polled, as numbered by the log. A commit carries its batch's number, so a
/// member that lost its partitions is fenced, even if it got new ones since (KIP-447).
package struct Generation: Hashable, Sendable {
    package let number: Int
    package init(_ number: Int) { self.number = number }
}
