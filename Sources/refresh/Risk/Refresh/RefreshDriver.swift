package import AppAttest

/// What a refresher works by, as its files say.
package struct RefreshRules: Sendable {
    package var keys: [ProviderKey]
    /// The names of the apps whose receipts are exchanged.
    package var apps: Set<String>
    package var callsPerSecond: Double
    /// A reload does not change them.
    package var lines: LineSettings

    package init(keys: [ProviderKey], apps: Set<String>, callsPerSecond: Double, lines: LineSettings = LineSettings()) {
        (self.keys, self.apps, self.callsPerSecond, self.lines) = (keys, apps, callsPerSecond, lines)
    }
}

/// A refresher without its clients: records, answers and acknowledgements come in; calls, requests to write, positions
/// to commit and partitions to pause or to resume come out. A value; its time is an argument and never goes back.
package struct RefreshDriver {
    /// Few are read ahead: what a later receipt of the key has superseded in the meantime need not be exchanged.
    private static let mostOfPair = 64
    private static let leastOfPair = 4

    let judge: any ReceiptJudge
    private let partitions: Int
    private let mostReceipts: Int
    private let lines: LineSettings
    private var apps: Set<String>
    /// Each pair's receipts, by the pair's number; nil = it is not assigned.
    var queues: [ReceiptQueue?]
    /// Milliseconds since 1970 at which a pair's next call may begin; in the order of `queues`.
    var wakes: [Int64]
    /// The pair whose turn was the last one.
    var lastTurn = 0
    private var assignments = 0
    package internal(set) var bucket: CallBucket
    package internal(set) var tokens: ProviderTokens
    package internal(set) var clock = ServerClock()
    /// Breakers that have something to remember.
    package internal(set) var breakers: [CallAccount: CallBreaker] = [:]
    /// The calls and requests under way, by their numbers.
    var open: [UInt: OpenCall] = [:]
    var lastNumber: UInt = 0
    var notices = NoticeList()
    package internal(set) var counts = RefreshCounts()

    /// A call from its begin until its outcome is final, or its request is acknowledged.
    struct OpenCall {
        let call: ReceiptCall
        /// Whether Apple has answered, and a request is being written.
        var isWriting = false
    }

    /// - Parameters:
    ///   - partitions: of the receipts topic.
    ///   - mostReceipts: in memory, of all pairs together: 32 MB of Apple's, at most 128.
    package init(_ rules: RefreshRules, partitions: Int, mostReceipts: Int = 8_192, judge: any ReceiptJudge) {
        (self.judge, self.partitions, self.mostReceipts) = (judge, partitions, mostReceipts)
        (lines, apps) = (rules.lines, rules.apps)
        let pairs = ReceiptLine.allCases.count * partitions
        (queues, wakes) = (Array(repeating: nil, count: pairs), Array(repeating: .max, count: pairs))
        bucket = CallBucket(callsPerSecond: rules.callsPerSecond)
        tokens = ProviderTokens(rules.keys)
    }

    /// Takes what a reload has changed, for the receipts in memory too: each belongs to the team that serves its App ID
    /// now, and one that is not to be exchanged any more is passed. Open breakers let a call through at once: a new key
    /// may be what was missing. Breakers of a team without a key are forgotten.
    package mutating func reload(_ rules: RefreshRules, at time: EvaluationTime) {
        apps = rules.apps
        tokens.reload(rules.keys)
        bucket.change(callsPerSecond: rules.callsPerSecond)
        breakers = breakers.filter { tokens.hasKey(of: $0.key.team) }
        for account in breakers.keys { breakers[account]?.probe(at: time) }
        let served = tokens
        for place in queues.indices {
            queues[place]?.assignAccounts { rules.apps.contains($0.app) ? $0.account(by: served) : nil }
            for key in rules.keys { release(place, team: key.team, at: time) }
        }
    }

    private mutating func release(_ place: Int, team: String, at time: EvaluationTime) {
        for environment in Environment.allCases {
            queues[place]?.release(CallAccount(team: team, environment: environment), at: time)
        }
        refresh(place)
    }

    /// What is worth a line in the log since the last call.
    package mutating func takeNotices() -> [RefreshNotice] { notices.take() }
}

// MARK: - Partitions

extension RefreshDriver {
    package var pairs: [LinePair] { queues.compactMap { $0?.pair } }

    /// The pair is read from its committed offset on, which its first record tells.
    package mutating func assign(_ pair: LinePair) {
        precondition(queues[place(of: pair)] == nil, "a pair is assigned once")
        assignments += 1
        let part = mostReceipts / max(1, queues.count)
        let most = min(Self.mostOfPair, max(Self.leastOfPair, part))
        let queue = ReceiptQueue(pair, assignment: assignments, settings: lines, mostEntries: most)
        queues[place(of: pair)] = queue
        spread()
    }

    /// Forgets a pair. Calls under way go on: what Apple answers is written all the same.
    package mutating func revoke(_ pair: LinePair) {
        queues[place(of: pair)] = nil
        refresh(place(of: pair))
        spread()
    }

    private mutating func spread() {
        bucket.assign(pairs: queues.count { $0 != nil }, partitions: partitions)
    }

    /// Takes a record. One that there is no room for is dropped: its partition is paused, and read again from there on
    /// when it resumes.
    package mutating func take(_ record: ReceiptRecord, of pair: LinePair, at time: EvaluationTime) {
        let place = place(of: pair)
        guard let queue = queues[place], !queue.isPaused, record.offset >= queue.nextOffset else { return }
        guard queue.hasRoom, !queue.hasDropped else {
            queues[place]?.hasDropped = true
            return
        }
        let receipt = receipt(record, pair, at: time)
        queues[place]?.append(record.offset, receipt)
        refresh(place)
    }

    /// - Returns: nil for a record that is passed.
    private mutating func receipt(
        _ record: ReceiptRecord,
        _ pair: LinePair,
        at time: EvaluationTime
    ) -> (HeldReceipt, CallAccount)? {
        do throws(HeldReceipt.Passed) {
            let receipt = try HeldReceipt(record, for: pair.line, apps: apps, judge: judge)
            if let account = receipt.account(by: tokens) { return (receipt, account) }
            notices.add(.unserved(prefix: receipt.prefix), at: time)
        } catch {
            if error == .unreadable { notices.add(.unreadable(pair, offset: record.offset), at: time) }
        }
        return nil
    }

    /// The partitions of a line that must be paused or resumed now; those that resume are read from an offset on.
    package mutating func takeFlow(of line: ReceiptLine) -> (pause: [Int32], resume: [(partition: Int32, from: Int64)])
    {
        var flow: (pause: [Int32], resume: [(partition: Int32, from: Int64)]) = ([], [])
        for place in places(of: line) {
            guard let queue = queues[place] else { continue }
            let resumes = queue.wasFull ? queue.isHalfFree : queue.hasRoom
            guard queue.isPaused ? resumes : queue.hasDropped || !queue.hasRoom else { continue }
            queues[place]?.isPaused.toggle()
            queues[place]?.hasDropped = false
            queues[place]?.wasFull = !queue.hasRoom
            if queue.isPaused {
                flow.resume.append((queue.pair.partition, queue.nextOffset))
            } else {
                flow.pause.append(queue.pair.partition)
            }
        }
        return flow
    }

    /// The partitions of a line that are assigned and not paused.
    package func readPartitions(of line: ReceiptLine) -> [Int32] {
        places(of: line).compactMap { place in queues[place].flatMap { $0.isPaused ? nil : $0.pair.partition } }
    }

    /// The offset that a pair is read at, 0 before its first record; nil = it is not assigned, or not read at the moment.
    package func readOffset(of pair: LinePair) -> Int64? {
        guard let queue = queues[place(of: pair)], !queue.isPaused, !queue.hasDropped else { return nil }
        return queue.nextOffset
    }

    /// Records of a pair were skipped: it is read again from where it was.
    package mutating func readAgain(_ pair: LinePair) { queues[place(of: pair)]?.hasDropped = true }

    /// A partition could not be sought: it is paused, and tried again.
    package mutating func resumeFailed(_ pair: LinePair) { queues[place(of: pair)]?.isPaused = true }

    /// The positions of a line that have moved since they were taken last.
    package mutating func takePositions(of line: ReceiptLine) -> [(partition: Int32, position: Int64)] {
        places(of: line).compactMap { place in
            guard let queue = queues[place], queue.position > queue.committed else { return nil }
            queues[place]?.committed = queue.position
            return (queue.pair.partition, queue.position)
        }
    }

    /// A commit has failed: the positions are taken again.
    package mutating func commitFailed(_ partitions: [Int32], of line: ReceiptLine) {
        for partition in partitions { queues[place(of: LinePair(line: line, partition: partition))]?.committed = 0 }
    }

    /// Milliseconds for which the oldest exchange of a line has been due; nil while none is.
    package func lag(of line: ReceiptLine, at time: EvaluationTime) -> Int64? {
        let due = places(of: line).compactMap { queues[$0]?.oldestDue }.min()
        return due.flatMap { $0 <= time ? time.since($0) : nil }
    }

    func places(of line: ReceiptLine) -> Range<Int> {
        line.rawValue * partitions..<(line.rawValue + 1) * partitions
    }

    func place(of pair: LinePair) -> Int {
        precondition((0..<partitions).contains(Int(pair.partition)), "the topic has this partition")
        return pair.line.rawValue * partitions + Int(pair.partition)
    }

    mutating func refresh(_ place: Int) { wakes[place] = (queues[place]?.wake ?? .never).milliseconds }
}
