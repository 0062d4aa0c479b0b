internal import AppAttest
package import Pipeline
internal import Streams

extension SimulatedFleet {
    /// Some time passes, perhaps something happens, one process moves.
    func step() {
        let isQuiet = chance(isChaotic ? (company == nil ? 0.1 : 0.4) : plan.quiet)
        pass(Int64(random.below(isQuiet ? company?.mostPause ?? 2_000 : 20)))
        if isChaotic {
            if chance(0.25) { _ = broker.offerOne() }
            if chance(plan.mischief) { mischief() }
            if plan.sleepInOutput > 0, chance(plan.sleepInOutput), let victim = workers.first(where: isWriting) {
                suspend(victim)
            }
            meetWorld()
            if plan.clocks > 0, chance(plan.clocks), let worker = workers.randomElement(using: &random) {
                setClock(worker.clock)
            }
            if plan.stops > 0, chance(plan.stops) { stopInOrder(idle.randomElement(using: &random)) }
            if !isClosed { startDue() }
        }
        if isChaotic { readers?.move() }
        company?.move()
        let ready = idle
        if !ready.isEmpty { move(ready[random.below(ready.count)]) }
    }

    private func startDue() {
        for restart in restarts where restart.at <= broker.now { start(restart.name) }
        restarts.removeAll { $0.at <= broker.now }
    }

    /// Lets time pass; workers that are not asleep send heartbeats meanwhile.
    private func pass(_ milliseconds: Int64) {
        for worker in workers where worker.pausedUntil <= broker.now {
            if let id = worker.process.groupID { broker.group.heartbeat(id, at: broker.now + milliseconds) }
        }
        broker.advance(by: milliseconds)
    }

    /// Much time passes, in which workers do no more than serve their group.
    package func leap(_ milliseconds: Int64) {
        let end = broker.now + milliseconds
        isLeaping = true
        defer { isLeaping = false }
        while broker.now < end {
            pass(min(20_000, end - broker.now))
            for worker in idle { move(worker) }
        }
    }

    /// Stops a worker in order; it starts again where the plan has stops.
    package func stop(_ name: String) { stopInOrder(idle.first { $0.name == name }) }

    /// What each worker is at.
    package var states: [String] {
        workers.map { worker in
            let parts = worker.settled.map { "owns \($0)" } ?? "owns nothing"
            return "\(worker.name) \(parts)\(worker.loop.isIdle ? "" : ", works")"
                + "\(worker.loop.restoring == nil ? "" : ", restores")\(worker.isStopping ? ", stops" : "")"
                + "\(worker.loop.clockDoubt.map { ", doubts: \($0)" } ?? "")\(worker.pausedUntil > broker.now ? ", sleeps" : "")"
        }
    }

    /// A worker is killed, and started again at once.
    package func restart(_ name: String) {
        guard let worker = workers.first(where: { $0.name == name }) else { return }
        remove(worker)
        deaths += 1
        start(name)
    }

    /// A worker of this name takes other settings.
    package func replace(_ settings: PipelineSettings, of name: String, taken: @escaping @Sendable (String?) -> Void) {
        for worker in workers where worker.name == name {
            worker.loop.replace(settings) { taken($0?.description) }
        }
    }

    /// A joining member gets its share, whatever another member waits for: one that moves answers its group. Its moves
    /// count, since many milliseconds pass between two, and the time for which the library keeps an offset commit open.
    private func noteWait(for worker: SimulatedWorker) {
        guard let id = worker.process.groupID, broker.group.waits(for: id) else { return worker.heldUp = 0 }
        if worker.heldUp == 0 { worker.heldUpSince = broker.now }
        worker.heldUp += 1
        let isLong = broker.now - worker.heldUpSince > broker.limits.sessionTimeout
        guard worker.heldUp >= Self.mostMoves, isLong, !worker.isHeldUpNoted else { return }
        worker.isHeldUpNoted = true
        broker.violations.append("\(worker.name) keeps its group waiting")
    }

    private static let mostMoves = 100

    /// A member that has partitions and has answered for them does something about them.
    private func noteForgotten(of worker: SimulatedWorker) {
        guard worker.hasForgottenPartitions, worker.loop.restoring == nil, worker.loop.isIdle else {
            return worker.forgetful = 0
        }
        worker.forgetful += 1
        guard worker.forgetful == Self.mostMoves / 5 else { return }
        broker.violations.append("\(worker.name) has partitions and does not know it")
    }

    private func move(_ worker: SimulatedWorker) {
        if worker.isSignalled { stopInOrder(worker) }
        worker.isBusy = true
        defer { worker.isBusy = false }
        noteWait(for: worker)
        noteForgotten(of: worker)
        noteUnstarted(of: worker)
        for partition in worker.resumed where worker.loop.held[partition] != nil {
            broker.violations.append("\(worker.name) reads partition \(partition), which it holds")
        }
        worker.moves += 1
        if isChaotic, plan.movesToRenewal > 0, worker.moves.isMultiple(of: plan.movesToRenewal) {
            worker.renewFiles()
        }
        do {
            defer { if worker.process.isDead, workers.contains(where: { $0 === worker }) { restart(remove(worker)) } }
            if worker.lanes.hasJobs, random.below(2) == 0 {
                _ = worker.lanes.finishOne()
                return
            }
            switch try worker.loop.tick(waitMilliseconds: 0) {
            case .worked, .backOff: return
            case .waiting: _ = worker.lanes.finishOne()
            case .finished:
                worker.close()
                remove(worker)
                if plan.stops > 0, isChaotic, !worker.isReplaced { restarts.append((worker.name, broker.now + 100)) }
                if worker.loop.isInDoubt { doubtfulStops += 1 }
                counts.note("\(broker.now) \(worker.name) has left")
            }
        } catch let fault as any SourceFault where fault.endsLoop {
            counts.note("\(broker.now) \(worker.name) ends: \(fault)")
            if !worker.process.mayEnd, !worker.process.isDead {
                broker.violations.append("\(worker.name) ends without a cause: \(fault)")
            }
            // One that has died in a call is started again already; alone, a fleet may get two of one name.
            guard company == nil || workers.contains(where: { $0 === worker }) else { return }
            restart(remove(worker))
        } catch let missing as MissingSealingKeys where company != nil {
            // Until its file arrives a supervisor starts it again.
            company?.ended(worker.name, "\(missing)")
            restart(remove(worker))
        } catch {
            breakdowns.append("\(worker.name) broke down: \(error)")
            remove(worker)
        }
    }

    @discardableResult
    func remove(_ worker: SimulatedWorker) -> SimulatedWorker {
        if workers.contains(where: { $0 === worker }) { pastTally.add(worker.loop.tally) }
        workers.removeAll { $0 === worker }
        worker.process.kill()
        return worker
    }

    /// Restarts a process that has died, under the same name or another, unless it was replaced.
    private func restart(_ worker: SimulatedWorker) {
        counts.note("\(broker.now) \(worker.name) died")
        deaths += 1
        guard !worker.isReplaced else { return }
        let isSame = chance(0.7)
        counts.add(isSame ? .restartSameID : .restartOtherID)
        let at = broker.now + Int64.random(in: 0...15_000, using: &random)
        if isChaotic {
            restarts.append((isSame ? worker.name : newName(), at))
        } else {
            start(isSame ? worker.name : newName())
        }
    }

    /// A process pauses in the middle of a call, and the others continue.
    func hold(_ worker: SimulatedWorker, _ kind: Interlude) {
        guard depth < 2, isChaotic, !isLeaping else { return }
        depth += 1
        defer { depth -= 1 }
        switch kind {
        case .slow:
            counts.add(.slowCall)
            for _ in 0..<Int.random(in: 1...30, using: &random) { step() }
        case .paused:
            counts.add(.pauseInCall)
            suspend(worker)
            for _ in 0..<200 where broker.now < worker.pausedUntil { step() }
            worker.pausedUntil = 0
        }
    }

    private func isWriting(_ worker: SimulatedWorker) -> Bool {
        worker.process.isWriting && !worker.isBusy && worker.pausedUntil <= broker.now
    }

    /// Stops a process past the session's time-out, or past the transaction's too; it then continues where it was.
    private func suspend(_ worker: SimulatedWorker) {
        let isLong = chance(0.5)
        counts.add(isLong ? .pausePastTransaction : .pausePastSession)
        counts.note("\(broker.now) \(worker.name) sleeps")
        worker.pausedUntil = broker.now + Int64.random(in: isLong ? 16_000...40_000 : 10_500...14_000, using: &random)
        guard plan.isStatic, !worker.isReplaced, chance(0.3) else { return }
        // Taken for dead: started again elsewhere under its name.
        counts.add(.zombieReplaced)
        worker.isReplaced = true
        start(worker.name)
        // It was not dead, and has a namesake.
        if plan.delivery == .exactlyOnce, chance(0.5) { worker.pausedUntil = broker.now + Int64(random.below(1_000)) }
    }

    private var idle: [SimulatedWorker] { workers.filter { !$0.isBusy && $0.pausedUntil <= broker.now } }

    func stopInOrder(_ worker: SimulatedWorker?) {
        guard let worker, !worker.isStopping, workers.count > 1 || plan.stops > 0 else { return }
        counts.add(.gracefulStop)
        worker.loop.stop()
        worker.isStopping = true
    }

    private func mischief() {
        let victim = idle.randomElement(using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1, 2:
            guard let victim else { return }
            counts.add(.crash)
            if chance(0.5) { _ = leaveOpen(victim) }
            restart(remove(victim))
        // Without transactions nothing fences a process that sleeps in the middle of a write.
        case 3, 4: if let victim, plan.delivery == .exactlyOnce || !victim.process.isWriting { suspend(victim) }
        case 5: stopInOrder(victim)
        case 6, 7:
            guard workers.count < 5 else { return }
            counts.add(.join)
            start(newName())
        case 8:
            if let partition = broker.partitions.randomElement(using: &random) { broker.compact(partition) }
        case 9, 10:
            guard let victim else { return }
            counts.add(.reload)
            // Its own files say what it has.
            guard company == nil else { return }
            victim.loop.replace(chance(0.5) ? reloaded : settings) { _ in }
        default:
            // Longer than a ledger that was given away is kept, and than every session.
            // Who has a call open would wait as long.
            guard company == nil else { return }
            guard plan.delivery == .exactlyOnce || !workers.contains(where: \.process.isWriting) else { return }
            counts.add(.longWait)
            for _ in 0..<10 { pass(100_000) }
        }
    }

    func chance(_ share: Double) -> Bool { random.chance(share) }
}
