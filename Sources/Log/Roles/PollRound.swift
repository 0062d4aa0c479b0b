/// The outcome of one poll: records or a change of assignment, never both.
package struct PollRound: Sendable {
    package var records: [PolledRecord] = []
    package var generation = Generation(0)
    package var change: AssignmentChange?
    /// The input is at its end (a capture's last line).
    package var ended = false
    /// A partition that cannot be read further; comes without records or a change.
    package var damaged: PartitionDamage?

    package init() {}
}
