internal import AppAttest
internal import Crypto
internal import DeviceLab
package import Risk

/// The driver over a simulated topic, a group that takes partitions away and gives them back, a producer that fails, and
/// Apple's model, until nothing is left to do.
package struct DriverRun {
    private enum Event: Sendable {
        case attest(key: Int)
        case ending(ReceiptCall, life: Int)
        case written(UInt, SimulatedReceipt, exchanged: EvaluationTime, life: Int)
        /// The process ends and starts again.
        case crash
        case rebalance(isLost: Bool)
        case reload
    }

    /// A partition of a line, as the client library reads it.
    private struct Feed {
        var position: Int64
        var isPaused = false
    }

    private let plan: RunPlan
    private let key: SigningKey
    private var settings: RefreshDriver.Settings
    /// The team that speaks for a prefix.
    private var teams: [String: String]
    package private(set) var driver: RefreshDriver
    private var topic: ReceiptTopic
    private var apple: AppleModel
    private var random: SeededRandom
    private var events = EventQueue<Event>()
    private var feeds: [LinePair: Feed] = [:]
    private var committed: [LinePair: Int64] = [:]
    private var attested: [Int: EvaluationTime] = [:]
    /// Calls by their number, with the assignment under which they began.
    private var calls: [UInt: (call: ReceiptCall, epoch: Int)] = [:]
    /// Counts each pair's assignments: what ends after a revocation belongs to nobody.
    private var epochs: [LinePair: Int] = [:]
    private var life = 0
    private var now = RunPlan.start
    /// Steps with nothing to do. The last partitions to resume may need several tries.
    private var idleSteps = 0
    package private(set) var audit = RunAudit()
    package private(set) var notices: [RefreshNotice] = []
    package private(set) var pauses = 0

    /// - Parameter mostReceipts: in memory.
    package init(_ plan: RunPlan, mostReceipts: Int = 8_192) throws {
        self.plan = plan
        key = try SigningKey.generate(.p256)
        teams = Dictionary(uniqueKeysWithValues: FakeReceipts.teams.map { ($0, $0) })
        let keys = Self.keys(key, teams)
        var settings = RefreshDriver.Settings(partitions: plan.partitions, keys: keys, apps: [FakeReceipts.app])
        (settings.lines, settings.callsPerSecond) = (plan.lines, plan.callsPerSecond)
        settings.mostReceipts = mostReceipts
        self.settings = settings
        driver = RefreshDriver(settings, judge: FakeReceipts())
        topic = ReceiptTopic(partitions: plan.partitions, isCompacted: plan.isCompacted)
        apple = AppleModel(seed: plan.seed ^ 0xD4, faults: plan.faultSpans(), rarity: plan.rarity)
        random = SeededRandom(seed: plan.seed)
        for attestation in plan.attestations() { events.add(.attest(key: attestation.key), at: attestation.at) }
        for time in plan.crashTimes() {
            events.add(.crash, at: time)
            let later = time.after(milliseconds: Int64.random(in: 1...Milliseconds.day, using: &random))
            events.add(.rebalance(isLost: later.milliseconds.isMultiple(of: 2)), at: later)
        }
        for time in plan.reloadTimes() { events.add(.reload, at: time) }
        for pair in allPairs { assign(pair) }
    }

    private static func keys(_ key: SigningKey, _ teams: [String: String]) -> [ProviderKey] {
        teams.compactMap { ProviderKey(team: $1, kid: "KEY1234567", key: key, appIDPrefixes: [$0]) }
    }

    package mutating func run() {
        while step() {}
        checkEnd()
    }

    private var allPairs: [LinePair] {
        ReceiptLine.allCases.flatMap { line in
            (0..<plan.partitions).map { LinePair(line: line, partition: Int32($0)) }
        }
    }

    private mutating func assign(_ pair: LinePair) {
        driver.assign(pair)
        let position = committed[pair] ?? 0
        feeds[pair] = Feed(position: position)
        epochs[pair, default: 0] += 1
        audit.restart(pair, from: position)
    }

    private mutating func step() -> Bool {
        feed()
        switch driver.next(at: now) {
        case .call(let call):
            audit.begin(call, at: now)
            let key = topic.receipt(Int(call.pair.partition), call.offset).key
            if call.grant.team != teams[FakeReceipts.teams[key % 2]] {
                audit.note("a call has the token of a team that does not speak for it")
            }
            calls[call.number] = (call, epochs[call.pair] ?? 0)
            let latency = Int64.random(in: 20...30_000, using: &random)
            events.add(.ending(call, life: life), at: now.after(milliseconds: latency))
            return true
        case .wait(let until):
            let next = [until, events.next].compactMap(\.self).min()
            guard let next else {
                idleSteps += 1
                return idleSteps <= 20
            }
            idleSteps = 0
            guard next > now || events.next.map({ $0 <= now }) ?? false else {
                audit.note("the driver waits for a time that has come")
                return false
            }
            now = max(now, next)
            while let event = events.take(until: now) { handle(event) }
            for line in ReceiptLine.allCases { commit(line) }
            notices += driver.takeNotices()
            return true
        }
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .attest(let key):
            topic.attest(key, at: now)
            attested[key] = now
        case .crash:
            life += 1
            calls = [:]
            driver = RefreshDriver(settings, judge: FakeReceipts())
            for pair in allPairs { assign(pair) }
        case .rebalance(let isLost): rebalance(isLost)
        case .reload: reload()
        case .ending(let call, let life): if life == self.life { end(call) }
        case .written(let number, let receipt, let exchanged, let life):
            written(number, receipt, exchanged, life)
        }
    }

    /// A line's partitions go, and some time later come back.
    private mutating func rebalance(_ isLost: Bool) {
        let line = ReceiptLine.allCases[Int(random.next() % 3)]
        if !isLost { commit(line) }
        for pair in allPairs where pair.line == line {
            driver.revoke(pair)
            assign(pair)
        }
    }

    private mutating func reload() {
        let names = FakeReceipts.teams
        teams = [names[0]: teams[names[1]] ?? "", names[1]: teams[names[0]] ?? ""]
        settings.keys = Self.keys(key, teams)
        driver.reload(
            keys: settings.keys,
            apps: settings.apps,
            callsPerSecond: settings.callsPerSecond,
            at: now
        )
    }

    private mutating func end(_ call: ReceiptCall) {
        let sent = topic.receipt(Int(call.pair.partition), call.offset)
        let answer = apple.answer(sent, attestedAt: attested[sent.key] ?? now, at: now)
        let reply = answer.map { CallReply.answered($0) } ?? (random.next() % 2 == 0 ? .timedOut : .failed)
        var received: SimulatedReceipt?
        if case .receipt(let bytes)? = answer?.content { received = AppleModel.receipt(bytes, after: sent) }
        let outcome = reply.outcome { _ in received == nil ? .failure(.receipt(.malformed)) : .success(.accepted) }
        let skipped = skippedCount
        let request = driver.end(call.number, reply, at: now)
        if isOwn(call.number) { audit.end(call, outcome, isOver: outcome.isFinal || skippedCount > skipped) }
        guard let request, let received else { return }
        if request.partition != call.pair.partition { audit.note("a request goes to another partition") }
        let event = Event.written(request.number, received, exchanged: sent.dates.createdAt, life: life)
        events.add(event, at: now.after(milliseconds: 40))
    }

    private var skippedCount: Int { driver.counts.skipped.values.reduce(0, +) }

    private mutating func written(
        _ number: UInt,
        _ receipt: SimulatedReceipt,
        _ exchanged: EvaluationTime,
        _ life: Int
    ) {
        // Records under way to the broker arrive, also those of a process that has died, and some that are reported as
        // lost.
        let chance = random.next() % 40
        let isWritten = chance > 1
        if chance > 0 { _ = topic.verify(receipt, exchanged: exchanged, at: now) }
        guard life == self.life, let call = calls[number]?.call else { return }
        if isOwn(number) { audit.acknowledge(call, isWritten: isWritten) }
        driver.acknowledge(number, isWritten: isWritten, at: now)
    }
}

extension DriverRun {
    private func isOwn(_ number: UInt) -> Bool { calls[number].map { epochs[$0.call.pair] == $0.epoch } ?? false }
}

// MARK: - The group

extension DriverRun {
    /// What the library delivers: a few records of a partition may still come after it was paused.
    private mutating func feed() {
        for line in ReceiptLine.allCases {
            let flow = driver.takeFlow(of: line)
            pauses += flow.pause.count
            for partition in flow.pause { feeds[LinePair(line: line, partition: partition)]?.isPaused = true }
            for (partition, offset) in flow.resume {
                let pair = LinePair(line: line, partition: partition)
                if random.next() % 8 == 0 {
                    driver.resumeFailed(pair)
                } else {
                    feeds[pair] = Feed(position: offset)
                }
            }
        }
        for pair in driver.pairs { deliver(pair) }
    }

    private mutating func deliver(_ pair: LinePair) {
        guard var feed = feeds[pair] else { return }
        let partition = Int(pair.partition)
        var left = feed.isPaused ? Int(random.next() % 2) : 100
        while left > 0, feed.position < topic.end(of: partition) {
            let offset = feed.position
            feed.position += 1
            if topic.isGone(partition, offset, at: now) { continue }
            left -= 1
            let receipt = topic.receipt(partition, offset)
            let record = FakeReceipts.record(receipt, offset: offset)
            driver.take(record, of: pair, at: now)
        }
        feeds[pair] = feed
    }

    private mutating func commit(_ line: ReceiptLine) {
        for (partition, position) in driver.takePositions(of: line) {
            let pair = LinePair(line: line, partition: partition)
            if random.next() % 16 == 0 {
                driver.commitFailed([partition], of: line)
                continue
            }
            audit.commit(pair, position)
            committed[pair] = position
        }
    }

    private mutating func checkEnd() {
        if driver.openCount > 0 { audit.note("\(driver.openCount) calls are open at the end") }
        for line in ReceiptLine.allCases {
            for _ in 0..<4 { commit(line) }
        }
        for pair in allPairs {
            let partition = Int(pair.partition)
            for offset in 0..<topic.end(of: partition) {
                let dates = topic.receipt(partition, offset).dates
                let due = pair.line.due(dates, plan.lines)
                let isWanted = pair.line.takes(dates.type) && !dates.isExpired(at: due)
                if isWanted, !audit.isDone(pair, offset), !topic.isGone(partition, offset, at: now) {
                    audit.note("\(pair) \(offset) is never exchanged")
                }
            }
        }
    }
}
