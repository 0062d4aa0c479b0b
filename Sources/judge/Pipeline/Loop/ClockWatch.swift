internal import AppAttest
internal import Streams

/// Distinguishes a wrong wall clock from old records, by the time that the broker wrote with them (LogAppendTime, which
/// no sender can choose).
///
/// - The broker cannot have appended a record in the future: if it seems so, one of the two clocks is wrong. It is the
///   broker's if other partitions agree with ours at the same time, else ours is as likely.
/// - An old record may come from an old backlog, which the record itself does not show. But if our clock agreed with a
///   broker's and was then set forward by more than the time that has passed, records that are too old only by the new
///   time do not count as old.
/// - A broker that appends what this loop writes long before the present time shows that our clock is ahead, even where
///   it was wrong from the start: see ``BrokerTime``.
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
        /// Whether its record was at most a minute from the future.
        var isClose: Bool
    }

    private var agreements: [Int32: Agreement] = [:]
    var broker = BrokerTime()
    /// The present doubt, and the uptime at which it began.
    private(set) var present: (doubt: ClockDoubt, since: Int64)?

    /// Judges the clock by a round, and by what is known of the brokers' time.
    ///
    /// - Returns: whether the round may be judged, and what is new about it.
    mutating func review(
        _ records: [PolledRecord],
        at now: Now,
        _ limits: ClockSettings
    ) -> (mayJudge: Bool, news: (any SourceFault)?) {
        guard let doubt = doubt(records, at: now, limits) ?? lead(at: now) else {
            defer { present = nil }
            return (true, present.map { ClockAgreement(seconds: (now.uptime - $0.since) / 1000) })
        }
        let news = present == nil ? doubt : nil
        present = (doubt, present?.since ?? now.uptime)
        // Once a minute or two a record is judged, at the brokers' time, and its append time tells whether it is so still.
        return (doubt.kind == .ahead && !broker.isRecent(at: now), news)
    }

    /// That the clock is too far ahead. It begins with a recent write, and lasts until a record shows otherwise.
    private func lead(at now: Now) -> ClockDoubt? {
        guard let lead = broker.lead(at: now), lead > BrokerTime.tolerance,
            broker.offset(at: now) ?? lead > BrokerTime.tolerance,
            broker.isRecent(at: now) || present?.doubt.kind == .ahead
        else { return nil }
        return ClockDoubt(kind: .ahead, milliseconds: lead)
    }

    /// Why a round may not be judged now; nil = it may.
    mutating func doubt(_ records: [PolledRecord], at now: Now, _ limits: ClockSettings) -> ClockDoubt? {
        var late: (partition: Int32, by: Int64)?
        var ages = NewestAges()
        for case let record? in records.lazy.map(\.stamp) where record.hasLogAppendTime && record.timestamp >= 0 {
            let (partition, age) = (record.place.partition, now.wall - record.timestamp)
            ages.note(age, of: partition)
            if age > limits.maxAgeMilliseconds, age > late?.by ?? 0 { late = (partition, age) }
        }
        let newest = ages.byPartition
        let partitions = Set(newest.keys)
        let ahead = newest.min { ($0.value, $0.key) < ($1.value, $1.key) }.flatMap {
            $0.value < -limits.maxAheadMilliseconds ? $0 : nil
        }
        // If our clock is behind, older records come within the limit first: a minute ahead is all that counts as agreement.
        let least = max(-Self.step, -limits.maxAheadMilliseconds)
        let hasOther = newest.values.contains { least...limits.maxAgeMilliseconds ~= $0 }
        // What was doubted, and is old enough by now, shows nothing.
        for (partition, age) in newest
        where present == nil && -limits.maxAheadMilliseconds...Self.fresh ~= age && age <= limits.maxAgeMilliseconds {
            agreements[partition] = Agreement(offset: now.wall - now.uptime, at: now.uptime, isClose: age >= least)
        }
        if let ahead, !hasOther, !agrees(apartFrom: partitions, at: now) {
            return ClockDoubt(kind: .behind(ahead.key), milliseconds: -ahead.value)
        }
        if let late, let forward = steppedForward(at: now), late.by - forward <= limits.maxAgeMilliseconds {
            return ClockDoubt(kind: .setForward(late.partition), milliseconds: late.by)
        }
        return nil
    }

    /// Whether other partitions' brokers agreed with the present clock.
    private func agrees(apartFrom partitions: Set<Int32>, at now: Now) -> Bool {
        agreements.contains { partition, agreement in
            agreement.isClose && !partitions.contains(partition) && now.uptime - agreement.at <= Self.memory
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

/// The age of each partition's newest record: the others of a round may be old, and show nothing of the clock.
private struct NewestAges {
    private var found: [Int32: Int64] = [:]
    /// Records of one partition come in runs.
    private var run: (partition: Int32, age: Int64)?

    mutating func note(_ age: Int64, of partition: Int32) {
        guard let last = run, last.partition == partition else {
            found = byPartition
            return run = (partition, age)
        }
        if age < last.age { run = (partition, age) }
    }

    var byPartition: [Int32: Int64] {
        guard let run else { return found }
        return found.merging([run.partition: run.age], uniquingKeysWith: min)
    }
}

/// Reported when the wall clock contradicts the brokers': the worker pauses until the clocks agree.
package struct ClockDoubt: LoopNotice, Equatable {
    package enum Kind: Sendable, Equatable {
        /// The broker's clock is ahead of ours, as records of this partition show.
        case behind(Int32)
        /// Ours was set forward, as records of this partition show.
        case setForward(Int32)
        /// Ours is ahead of every broker's that has appended what this worker wrote.
        case ahead
    }

    package let kind: Kind
    package let milliseconds: Int64

    package var description: String {
        let seconds = milliseconds / 1_000
        return switch kind {
        case .behind(let partition):
            "the broker appended a record of partition \(partition) \(seconds) s after this machine's time: one of the two "
                + "clocks is wrong; the worker pauses until the clocks agree (set this machine's clock, or the broker's)"
        case .setForward(let partition):
            "this machine's clock was set forward, and the records of partition \(partition) seem \(seconds) s old since "
                + "then: the worker pauses until the clocks agree (set the clock; if it is right now, start the worker again)"
        case .ahead:
            "this machine's clock is \(seconds) s ahead of the brokers', which append what this worker writes so much "
                + "earlier: backends would refuse its tokens; the worker pauses until the clocks agree (set this machine's clock)"
        }
    }
}

/// Reported when a ``ClockDoubt`` is over.
package struct ClockAgreement: LoopNotice, Equatable {
    package let seconds: Int64

    package var description: String {
        "nothing contradicts this machine's clock any more, after \(seconds) s: requests are judged"
    }
}

extension BatchLoop {
    /// This machine's clocks; nil in replay.
    var now: ClockWatch.Now? {
        guard let wall = wallClock(), let uptime = uptime() else { return nil }
        return ClockWatch.Now(wall: wall.milliseconds, uptime: uptime)
    }

    /// Whether records may be judged by the present clock; what is new about it is reported.
    func clockAllows(_ records: [PolledRecord] = []) -> Bool {
        guard let now else { return true }
        let review = clocks.review(records, at: now, settings.clock)
        if let news = review.news { notice(news) }
        return review.mayJudge
    }

    /// Whether a batch is under way that shows how far the clock may be trusted.
    var isProvingClock: Bool { !inFlight.isEmpty && (now.map { clocks.broker.isUnproven(at: $0) } ?? false) }

    /// The time of tokens that are minted now; nil in replay.
    var mintTime: EvaluationTime? {
        now.map { EvaluationTime(milliseconds: clocks.broker.mintTime(at: $0)) }
    }

    /// The present time; nil in replay.
    var presentTime: EvaluationTime? {
        now.map { EvaluationTime(milliseconds: clocks.broker.presentTime(at: $0)) } ?? wallClock()
    }

    /// Notes the time of a round's newest record.
    func noteTimes(of records: [PolledRecord]) {
        guard let now else { return }
        let newest = records.lazy.compactMap { record in
            record.stamp.flatMap { $0.hasLogAppendTime && $0.timestamp >= 0 ? $0.timestamp : nil }
        }
        .max()
        if let newest { clocks.broker.noteRead(newest, at: now) }
    }

    /// Notes when the brokers appended what a batch has written.
    func noteAppended(_ batch: Batch) {
        guard let now, let begun = batch.commitBegan else { return }
        clocks.broker.noteWritten(streams.transaction.appendTime, begun: begun, at: now)
        // What a batch has written says nothing of records from the future.
        if clocks.present?.doubt.kind == .ahead { _ = clockAllows() }
    }
}
