/// The smallest value of the last one to two minutes.
struct SmallestOfMinute {
    private static let length: Int64 = 60_000

    private var present: (began: Int64, smallest: Int64)?
    private var before: (ended: Int64, smallest: Int64)?

    /// - Parameter now: milliseconds of a clock that cannot be set.
    mutating func add(_ value: Int64, at now: Int64) {
        turn(at: now)
        present = (present?.began ?? now, min(present?.smallest ?? value, value))
    }

    /// nil = nothing came for a minute or two.
    mutating func value(at now: Int64) -> Int64? {
        turn(at: now)
        return [before?.smallest, present?.smallest].compactMap(\.self).min()
    }

    private mutating func turn(at now: Int64) {
        if let last = before, now - last.ended >= Self.length { before = nil }
        guard let present, now - present.began >= Self.length else { return }
        let ended = present.began + Self.length
        before = now - ended < Self.length ? (ended, present.smallest) : nil
        self.present = nil
    }
}
