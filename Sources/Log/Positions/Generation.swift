/// The assignment under which records were polled. The log makes it up; a commit carries its batch's own, so that a
/// member that has lost its partitions is fenced, whatever it has been assigned since (KIP-447).
package struct Generation: Hashable, Sendable {
    package let number: Int
    package init(_ number: Int) { self.number = number }
}
