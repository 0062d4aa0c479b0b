/// A finding about the topics that an operator should know before the worker runs.
package struct TopicFinding: Sendable, Equatable {
    package enum Severity: Sendable {
        /// The check fails.
        case problem
        case warning
    }

    package var severity: Severity
    /// One line: what is wrong and what to do.
    package var message: String
    /// Whether it keeps a worker from starting. What may lose data some day fails the check, but `run` only warns of
    /// it: an upgrade must not stop a fleet that has run with it.
    package var endsRun = true
    /// Whether a broker that just started, or has not heard of a new topic yet, gives the same answer.
    package var mayPass = false
}
