internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Risk

/// The desk over a simulated topic and Apple's model, until nothing is left to do.
package struct RefreshRun: Sendable {
    private enum Event: Sendable {
        case attest(key: Int)
        case ending(DeskCall, life: Int)
        case written(DeskCall, SimulatedReceipt, life: Int)
        case crash
    }

    private static let teams = ["ABCDE12345", "FGHIJ67890"]

    private let plan: RunPlan
    private let key: SigningKey
    private var topic: ReceiptTopic
    private var apple: AppleModel
    private var desk: RefreshDesk
    private var random: SeededRandom
    private var events: EventQueue<Event>
    private var positions: [LinePair: Int64] = [:]
    private var committed: [LinePair: Int64] = [:]
    private var attested: [Int: EvaluationTime] = [:]
    /// Counts the starts of the instance: what belonged to one before is lost.
    private var life = 0
    private var now = RunPlan.start
    package private(set) var audit = RunAudit()
    package private(set) var mostUnfinished = 0
    package private(set) var breakerChanges = 0

    package init(_ plan: RunPlan) throws {
        self.plan = plan
        key = try SigningKey.generate(.p256)
        topic = ReceiptTopic(partitions: plan.partitions, isCompacted: plan.isCompacted)
        apple = AppleModel(seed: plan.seed ^ 0xD4, faults: plan.faultSpans(), rarity: plan.rarity)
        random = SeededRandom(seed: plan.seed)
        desk = Self.desk(plan, key)
        events = EventQueue()
        for attestation in plan.attestations() { events.add(.attest(key: attestation.key), at: attestation.at) }
        for time in plan.crashTimes() { events.add(.crash, at: time) }
        assign()
    }

    /// - Returns: what was seen, with a breach for each due record that was never visited to its end.
    package static func audit(_ plan: RunPlan) throws -> RunAudit {
        var run = try RefreshRun(plan)
        run.run()
        return run.audit
    }

    package mutating func run() {
        while step() {}
        checkEnd()
    }

    private static func desk(_ plan: RunPlan, _ key: SigningKey) -> RefreshDesk {
        let keys = teams.compactMap { ProviderKey(team: $0, kid: "KEY1234567", key: key) }
        return RefreshDesk(
            lines: plan.lines,
            callsPerSecond: plan.callsPerSecond,
            partitions: plan.partitions,
            tokens: ProviderTokens(keys)
        )
    }

    private mutating func assign() {
        for line in ReceiptLine.allCases {
            for partition in 0..<plan.partitions {
                let pair = LinePair(line: line, partition: Int32(partition))
                let position = committed[pair] ?? 0
                desk.assign(pair, from: position)
                positions[pair] = position
                audit.restart(pair, from: position)
            }
        }
    }

    /// Advances to the next event, or begins a call now.
    private mutating func step() -> Bool {
        fill()
        switch desk.next(at: now) {
        case .call(let call):
            audit.begin(call, at: now)
            let latency = Int64.random(in: 20...30_000, using: &random)
            events.add(.ending(call, life: life), at: now.after(milliseconds: latency))
            mostUnfinished = max(mostUnfinished, desk.unfinishedCount)
            return true
        case .wait(let until):
            let next = [until, events.next].compactMap(\.self).min()
            guard let next else { return false }
            guard next > now || events.next.map({ $0 <= now }) ?? false else {
                audit.note("the desk waits for a time that has come")
                return false
            }
            now = max(now, next)
            while let event = events.take(until: now) { handle(event) }
            commit()
            return true
        }
    }

    private mutating func fill() {
        for pair in desk.pairs {
            let partition = Int(pair.partition)
            while desk.room(of: pair) > 0, let offset = positions[pair], offset < topic.end(of: partition) {
                positions[pair] = offset + 1
                if topic.isGone(partition, offset, at: now) { continue }
                let receipt = topic.receipt(partition, offset)
                let account = CallAccount(
                    team: Self.teams[receipt.key % 2],
                    environment: receipt.key % 7 == 0 ? .development : .production
                )
                let appointment = LineAppointment(dates: receipt.dates, account: account)
                desk.append(LineRecord(offset: offset, appointment: appointment), to: pair)
            }
        }
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .attest(let key):
            topic.attest(key, at: now)
            attested[key] = now
        case .crash:
            life += 1
            desk = Self.desk(plan, key)
            assign()
        case .ending(let call, let life):
            if life == self.life { end(call) }
        case .written(let call, let receipt, let life):
            // Records under way to the broker arrive, also those of a process that has died.
            let isWritten = random.next() % 40 != 0
            if isWritten { _ = topic.verify(receipt, exchanged: call.visit.appointment.dates.createdAt, at: now) }
            guard life == self.life else { return }
            audit.acknowledge(call, isWritten: isWritten)
            desk.acknowledge(call, isWritten: isWritten, at: now, using: &random)
        }
    }

    private mutating func end(_ call: DeskCall) {
        let sent = topic.receipt(Int(call.pair.partition), call.visit.offset)
        let answer = apple.answer(sent, attestedAt: attested[sent.key] ?? now, at: now)
        var received: SimulatedReceipt?
        let outcome =
            answer.map { answer in
                CallOutcome(answer) { bytes in
                    received = AppleModel.receipt(bytes, after: sent)
                    return received == nil ? .failure(.receipt(.malformed)) : .success(.accepted)
                }
            } ?? .timedOut
        let retryAfter = answer?.retryAfterMilliseconds
        let effect = desk.end(call, outcome, retryAfterMilliseconds: retryAfter, at: now, using: &random)
        audit.end(call, outcome, isOver: outcome.isFinal || effect.endsRefused)
        if effect.breaker != nil { breakerChanges += 1 }
        guard effect.mustProduce, let received else { return }
        events.add(.written(call, received, life: life), at: now.after(milliseconds: 40))
    }

    private mutating func commit() {
        for pair in desk.pairs {
            guard let position = desk.position(of: pair) else { continue }
            audit.commit(pair, position)
            if position < committed[pair] ?? 0 { audit.note("\(pair) goes back to \(position)") }
            committed[pair] = position
        }
    }

    private mutating func checkEnd() {
        if desk.unfinishedCount > 0 { audit.note("\(desk.unfinishedCount) visits are kept to the end") }
        for pair in desk.pairs {
            let partition = Int(pair.partition)
            if committed[pair] != topic.end(of: partition) { audit.note("\(pair) does not reach the end") }
            for offset in 0..<topic.end(of: partition) {
                let dates = topic.receipt(partition, offset).dates
                let due = pair.line.due(dates, plan.lines)
                let isWanted = pair.line.takes(dates.type) && !dates.isExpired(at: due)
                if isWanted, !audit.isDone(pair, offset), !topic.isGone(partition, offset, at: now) {
                    audit.note("\(pair) \(offset) is never visited")
                }
            }
        }
    }
}
