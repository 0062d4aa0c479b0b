/// Limits the events of devices, which need to prove nothing to cause one.
struct EventGate {
    /// Far more than a rollout's devices ask for at one gateway.
    static let mostPerSecond = 500

    private var second: Int64 = 0
    private var count = 0
    private var last: Int32 = 0

    /// The next partition in turn, since events have no key; nil = the limit of this second is reached.
    mutating func partition(in second: Int64, of partitions: Int32) -> Int32? {
        precondition(partitions > 0, "a topic has at least one partition")
        if second != self.second { (self.second, count) = (second, 0) }
        guard count < Self.mostPerSecond else { return nil }
        count += 1
        last = (last + 1) % partitions
        assert((0..<partitions).contains(last) && count <= Self.mostPerSecond)
        return last
    }
}
