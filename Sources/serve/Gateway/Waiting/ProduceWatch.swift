/// Notices that no broker acknowledges what is produced: too few replicas are in sync, for example.
struct ProduceWatch {
    /// How long nothing may be acknowledged while something waits, in milliseconds.
    static let most: Int64 = 2_000
    /// How long no call is taken once the fate of the last record is known. Then calls try again.
    static let pause: Int64 = 10_000

    private var pending: [WaitingCalls.Ticket: Int64] = [:]
    private var acknowledgedAt = Int64.min
    private var retryAt: Int64?
    /// The uptime since which nothing was acknowledged, where that is too long.
    private(set) var silentSince: Int64?

    mutating func noteProduced(_ ticket: WaitingCalls.Ticket, at now: Int64) { pending[ticket] = now }

    mutating func noteFate(_ ticket: WaitingCalls.Ticket, isWritten: Bool, at now: Int64) {
        pending[ticket] = nil
        if isWritten { (acknowledgedAt, silentSince, retryAt) = (now, nil, nil) }
    }

    /// Call it a few times a second.
    mutating func poll(at now: Int64) {
        guard let oldest = pending.values.min() else {
            guard silentSince != nil else { return }
            let end = retryAt ?? now + Self.pause
            retryAt = end
            if now >= end { (silentSince, retryAt) = (nil, nil) }
            return
        }
        let since = max(oldest, acknowledgedAt)
        if now - since > Self.most { (silentSince, retryAt) = (silentSince ?? since, nil) }
    }
}
