/// The source of requests: a topic, a capture file, a simulation.
///
/// The loop calls it from its own thread. Calls may block, but never longer than `milliseconds`.
package protocol RequestSource: AnyObject {
    /// Up to `limits` records of one round; waits at most `milliseconds` for the first one.
    func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound
    /// The part in a group that hands out partitions; nil = all records are ours from the start, and no round reports
    /// a change.
    var member: (any GroupMember)? { get }
}
