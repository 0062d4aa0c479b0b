/// The outcome of one poll: records or a change of assignment, never both. Records handed out before a partition was held
/// are sound.
package struct PollRound: Sendable {
    package var records: [PolledRecord] = []
    package var generation = Generation(0)
    package var events: [PartitionEvent] = []
    /// The input is at its end (a capture's last line).
    package var ended = false

    package init() {}
}
