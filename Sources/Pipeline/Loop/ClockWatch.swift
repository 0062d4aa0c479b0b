internal import AppAttest
internal import Streams

/// Distinguishes a wrong wall clock from old records, by the time that the broker wrote with them (LogAppendTime, which
/// no sender can choose).
///
/// - The broker cannot have appended a record in the future: if it seems so, one of the two clocks is wrong. It is the
///   broker's if other partitions agree with ours at the same time, else ours is as likely.
/// - An old record may come from an old backlog, which the record itself does not show. But if our clock agreed with a
///   broker's and was then set forward by more than the time that has passed, records that are too old only by the new
///   time do not count as old. A worker that starts with its clock ahead cannot know, and refuses.
struct ClockWatch: Sendable {
    /// A record this young was appended, near enough, just now.
    private static let fresh: Int64 = 5 * 60_000
    /// How long an agreement with other partitions supports our clock.
    private static let memory: Int64 = 5 * 60_000
    /// Our clock was set if it moved by this much more or less than the time that has passed.
    private static let step: Int64 = 60_000

    /// Our wall clock, and the time since some fixed moment, in milliseconds.
    struct Now: Sendable {
        var wall: Int64
        var uptime: Int64
    }

    private struct Agreement: Sendable {
        /// The wall clock's time at uptime 0.
        var offset: Int64
        var at: Int64
    }

    private var agreements: [Int32: Agreement] = [:]
    /// How far the wall clock is ahead of the newest record's time.
    var offset = SmallestOfMinute()

    /// Why a round may not be judged now; nil = it may.
    mutating func doubt(_ records: [PolledRecord], at now: Now, _ limits: ClockSettings) -> ClockDoubt? {
        var ahead: (partition: Int32, by: Int64)?
        var late: (partition: Int32, by: Int64)?
        var (partitions, hasOther): (Set<Int32>, Bool) = ([], false)
        // Records of one partition come in runs, and agree alike.
        var (present, agreed): (Int32?, Int32?)
        for case let record? in records.lazy.map(\.stamp) where record.hasLogAppendTime && record.timestamp >= 0 {
            let (partition, age) = (record.place.partition, now.wall - record.timestamp)
            if partition != present { partitions.insert(partition) }
            present = partition
            if age < -limits.maxAheadMilliseconds {
                if -age > ahead?.by ?? 0 { ahead = (partition, -age) }
            } else if age > limits.maxAgeMilliseconds {
                if age > late?.by ?? 0 { late = (partition, age) }
            } else {
                hasOther = true
                guard age <= Self.fresh, partition != agreed else { continue }
                agreements[partition] = Agreement(offset: now.wall - now.uptime, at: now.uptime)
                agreed = partition
            }
        }
        if let ahead, !hasOther, !agrees(apartFrom: partitions, at: now) {
            return ClockDoubt(partition: ahead.partition, milliseconds: ahead.by, isAhead: true)
        }
        if let late, let forward = steppedForward(at: now), late.by - forward <= limits.maxAgeMilliseconds {
            return ClockDoubt(partition: late.partition, milliseconds: late.by, isAhead: false)
        }
        return nil
    }

    /// Whether other partitions' brokers agreed with the present clock.
    private func agrees(apartFrom partitions: Set<Int32>, at now: Now) -> Bool {
        agreements.contains { partition, agreement in
            !partitions.contains(partition) && now.uptime - agreement.at <= Self.memory
                && abs(now.wall - now.uptime - agreement.offset) <= Self.step
        }
    }

    /// The milliseconds by which the clock was set forward since it last agreed; nil = it was not, or never agreed.
    private func steppedForward(at now: Now) -> Int64? {
        guard let last = agreements.values.max(by: { $0.at < $1.at }) else { return nil }
        let step = now.wall - now.uptime - last.offset
        return step > Self.step ? step : nil
    }

    mutating func forget(_ partitions: [Int32]) {
        for partition in partitions { agreements[partition] = nil }
    }
}

/// Reported when the wall clock contradicts the brokers': nothing is judged until they agree.
package struct ClockDoubt: SourceFault, Equatable, CustomStringConvertible {
    /// The partition that shows it.
    package let partition: Int32
    package let milliseconds: Int64
    /// The broker's clock is ahead of ours; else ours seems to be ahead of the broker's.
    package let isAhead: Bool

    package let endsLoop = false
    package let requiresAbort = false

    package var description: String {
        let seconds = milliseconds / 1_000
        return isAhead
            ? "the broker appended a record of partition \(partition) \(seconds) s after this machine's time: one of the two "
                + "clocks is wrong; nothing is judged until they agree (set this machine's clock, or the broker's)"
            : "this machine's clock was set forward, and the records of partition \(partition) seem \(seconds) s old since "
                + "then: nothing is judged until they agree (set the clock; if it is right now, start the worker again)"
    }
}

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

extension BatchLoop {
    /// Whether a round may be judged by the present clock; if not, it is kept, and the reason is reported once.
    func clockAgrees(with round: PollRound) -> Bool {
        guard let wall = wallClock(), let uptime = uptime() else { return true }
        let doubt = clocks.doubt(
            round.records,
            at: ClockWatch.Now(wall: wall.milliseconds, uptime: uptime),
            settings.clock
        )
        guard let doubt else { return true }
        if clockDoubt == nil { notice(doubt) }
        pendingRound = .doubted(round, doubt)
        return false
    }
}
