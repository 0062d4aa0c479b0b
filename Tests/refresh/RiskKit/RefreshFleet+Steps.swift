internal import AppAttest
internal import DeviceLab
internal import Gateway
internal import Kafka
internal import KafkaPorts
internal import Refresher
internal import Risk
internal import SimulationKit
internal import Streams

extension RefreshFleet {
    /// Some time passes, perhaps something happens, one process moves.
    func step() throws {
        let isQuiet = Double.random(in: 0..<1, using: &random) < (isChaotic ? 0.1 : 0.5)
        pass(Int64.random(in: 0...(isQuiet ? 2_000 : 20), using: &random))
        if isChaotic {
            if random.next() % 15 == 0 { append(books.attest(at: time)) }
            if chance(plan.mischief) { try mischief() }
            for restart in restarts where restart.at <= now { try start(restart.name) }
            restarts.removeAll { $0.at <= now }
        }
        if let refresher = idle.randomElement(using: &random) { try move(refresher) }
        for line in ReceiptLine.allCases { books.check(line, brokers[line.rawValue].committed) }
    }

    func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    private var idle: [Refresher] { refreshers.filter { !$0.isBusy && $0.pausedUntil <= now } }

    /// Lets time pass; processes that are not asleep send heartbeats meanwhile.
    func pass(_ milliseconds: Int64) {
        for refresher in refreshers where refresher.pausedUntil <= now {
            for (broker, member) in zip(brokers, refresher.members) {
                if let id = member.groupID { broker.group.heartbeat(id, at: now + milliseconds) }
            }
        }
        for broker in brokers { broker.advance(by: milliseconds) }
        books.happen(until: time)
        for refresher in refreshers { write(refresher) }
    }

    private func append(_ receipt: SimulatedReceipt?) {
        guard let receipt else { return }
        let record = books.append(receipt)
        let isDamaged = isChaotic && chance(plan.damaged)
        if isDamaged { books.lose(record.partition, record.offset) }
        for broker in brokers {
            if isDamaged {
                broker.damagedRequests.insert(RecordPlace(partition: record.partition, offset: record.offset))
            }
            broker.add([record])
            broker.offerAll()
        }
    }

    /// Delivers the requests that a refresher has written; a few are lost, or their outcome is unknown.
    private func write(_ refresher: Refresher) {
        let (written, id, inbox) = (refresher.outlet.written, refresher.id, refresher.inbox)
        refresher.outlet.written = []
        for request in written {
            guard let ticket = request.ticket else { continue }
            let dice = isChaotic ? random.next() % 30 : 30
            let outcome: DeliveryReport.Outcome = dice == 0 ? .notWritten : dice < 3 ? .unknown : .written
            books.later(Int64.random(in: 1...300, using: &random), at: time) { [unowned self] in
                if outcome == .written || dice == 1 {
                    append(books.arrived(ticket, of: id))
                }
                inbox.put(.reports([DeliveryReport(ticket: ticket, outcome: outcome)]))
            }
        }
    }

    private func move(_ refresher: Refresher) throws {
        refresher.isBusy = true
        defer { refresher.isBusy = false }
        noteWaits(for: refresher)
        do {
            let isStopping = refresher.stopsUntil != nil
            _ = try refresher.loop.pass(at: time, now: now, isStopping: isStopping)
            // What it has ridden out is no reason to end later.
            for member in refresher.members { member.mayEnd = false }
            if let end = refresher.stopsUntil, refresher.loop.openCount == 0 || now >= end {
                refresher.loop.close()
                remove(refresher)
                restarts.append((refresher.name, now + 100))
            }
        } catch let fault as KafkaFault {
            counts.note("\(now) \(refresher.name) ends: \(fault)")
            if !refresher.isDead, !mayEnd(refresher, fault) {
                books.complain("\(refresher.name) ends without a cause: \(fault)")
            }
            remove(refresher)
            restarts.append((refresher.name, now + 3_000))
        } catch { books.complain("\(refresher.name) broke down: \(error)") }
        guard refresher.isDead, refreshers.contains(where: { $0 === refresher }) else { return }
        remove(refresher)
        restarts.append((refresher.name, now + Int64.random(in: 0...15_000, using: &random)))
    }

    /// Nobody has its name: a fence comes from a join that was answered too late, and rarely again.
    private func mayEnd(_ refresher: Refresher, _ fault: KafkaFault) -> Bool {
        guard fault.isFencedMember else { return refresher.members.contains(where: \.mayEnd) }
        return refresher.members.contains { $0.fences.count { now - $0 < 60_000 } > 3 }
    }

    /// No group waits for a member that moves, and none goes on with a client that has told it to end.
    private func noteWaits(for refresher: Refresher) {
        refresher.useless = refresher.members.contains(where: \.hasUselessClient) ? refresher.useless + 1 : 0
        if refresher.useless == 10 { books.complain("\(refresher.name) goes on with a client of no use") }
        for (index, member) in refresher.members.enumerated() {
            guard let id = member.groupID, brokers[index].group.waits(for: id) else {
                refresher.waits[index] = (0, now, false)
                continue
            }
            refresher.waits[index].moves += 1
            let wait = refresher.waits[index]
            if wait.moves >= 100, now - wait.since > 10_000, !wait.isTold {
                refresher.waits[index].isTold = true
                books.complain("\(refresher.name) keeps a group waiting")
            }
        }
    }

    private func remove(_ refresher: Refresher) {
        refreshers.removeAll { $0 === refresher }
        for member in refresher.members { member.kill() }
    }

    private func mischief() throws {
        guard let victim = idle.randomElement(using: &random) else { return }
        switch random.next() % 6 {
        case 0:
            counts.add(.crash)
            remove(victim)
            restarts.append((victim.name, now + Int64.random(in: 0...15_000, using: &random)))
        case 1: suspend(victim)
        case 2: if victim.stopsUntil == nil { victim.stopsUntil = now + 10_000 }
        case 3: if refreshers.count < 4 { try start(newName()) }
        case 4: for member in victim.members { member.renewFiles() }
        default: try reload(victim)
        }
    }

    /// A process pauses in the middle of a call, and the others go on.
    func hold(_ name: String, _ kind: Interlude) {
        guard depth < 2, isChaotic else { return }
        depth += 1
        defer { depth -= 1 }
        let refresher = refreshers.first { $0.name == name }
        if kind == .paused, let refresher { suspend(refresher) }
        for _ in 0..<(kind == .slow ? 10 : 100) where kind == .slow || refresher?.pausedUntil ?? 0 > now { try? step() }
        refresher?.pausedUntil = 0
    }

    /// Past the session's time-out; it then goes on where it was.
    private func suspend(_ refresher: Refresher) {
        counts.add(.pausePastSession)
        refresher.pausedUntil = now + Int64.random(in: 10_500...40_000, using: &random)
    }
}
