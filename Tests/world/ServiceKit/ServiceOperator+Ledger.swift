internal import Broker
internal import KafkaPorts
internal import Settings
internal import SimulationKit

/// Commands on the ledger, while no worker runs.
extension ServiceOperator {
    /// How often a command is run again that has failed.
    private static let mostTries = 4

    /// All workers stop, the command runs after a while, and they start again.
    private func withoutWorkers(
        _ name: String,
        rest: Int64 = 0,
        _ command: @escaping (LedgerAccess) throws -> Void
    ) -> [Step] {
        var (isDone, isRested) = (false, false)
        let tries = (0..<Self.mostTries).flatMap { _ in
            [
                Step(wait: 0, name: "stops all workers") { [unowned self] in if !isDone { world.fleet.close() } },
                Step(wait: 12_000, name: "waits \(rest) ms more") { [unowned self] in isRested = isDone || wait(rest) },
                Step(wait: 0, name: name) { [unowned self] in if !isDone, isRested { isDone = run(name, command) } },
            ]
        }
        return tries + [Step(wait: 0, name: "starts the workers") { [unowned self] in world.fleet.open() }]
    }

    /// - Returns: whether no worker has run for so long.
    private func wait(_ milliseconds: Int64) -> Bool {
        isWaiting = true
        defer { isWaiting = false }
        var left = world.now
        for _ in 0..<2 * milliseconds / 900 where world.now - left < milliseconds {
            world.fleet.leap(900)
            // The operator has stopped all workers: a 504 needs no log line.
            world.account.lastGroupLine = world.now
            world.move()
            // One that a supervisor has started meanwhile stops, too.
            if !world.fleet.isEmpty {
                world.fleet.close()
                left = world.now
            }
        }
        return world.now - left >= milliseconds
    }

    /// - Returns: whether it comes to its end; a command may fail, and is run again.
    func run(_ name: String, _ command: (LedgerAccess) throws -> Void) -> Bool {
        do {
            try command(world.access(to: world.fleet.broker))
            world.account.meet("\(name), done")
            return true
        } catch {
            world.note("operator", "\(error)")
            if !(error is KafkaFault || error is CommandFault) { world.complain("a command ends with \(error)") }
            return false
        }
    }

    /// Page Migration: keys are exported, and that file is imported later. It weakens nothing.
    func importKeys() -> [Step] {
        var lines: [UInt8] = []
        let export = Step(wait: 0, name: "exports the keys") { [unowned self] in
            _ = run("export") { lines = try world.exported($0) }
        }
        let wait = Step(wait: Int64(world.dice(300_000)), name: "finds the export") {}
        return [export, wait]
            + withoutWorkers("imports the keys") { [unowned self] access in
                guard !lines.isEmpty, let partitioner = access.partitioner else { return }
                let file = try world.folder.write(lines, as: "keys.jsonl")
                let keys = try KeyImport(access, partitioner: partitioner, input: file) { _, _ in }
                try keys.perform { _ in }
            }
    }

    /// Page Runbook: offsets and marks are set to where the ledger says that its worker stopped.
    func resetOffsets() -> [Step] {
        withoutWorkers("resets the offsets") { access in
            var scope = ResetScope()
            (scope.keepsLedger, scope.target) = (true, .applied)
            _ = try LedgerReset(access, scope, writes: true) { _ in }.perform { _ in }
        }
    }

    /// `reset`: everything is forgotten, once the challenges that were used have expired.
    func resetLedger() -> [Step] {
        let rest = Int64(world.plan.challengeSeconds) * 1_000 + 60_000
        return withoutWorkers("forgets the ledger", rest: rest) { [unowned self] access in
            let reset = try LedgerReset(access, ResetScope(), writes: true) { _ in }
            world.account.noteReset(reset.rows, at: world.now)
            _ = try reset.perform { _ in }
        }
    }
}

extension ServiceWorld {
    /// The configuration of a command: the operator's files, without their mistakes.
    func access(to broker: SimulatedBroker, meanwhile: @escaping () -> Void = {}) throws -> LedgerAccess {
        var files = files
        files.mistake = nil
        return fleet.access(try folder.loaded(files).configuration, to: broker, meanwhile: meanwhile)
    }

    /// Page Runbook, more partitions: everything stops, the ledger is moved, and everything starts on the new topics. Nothing
    /// that was used passes there, and each device keeps its key.
    func moveTopics() throws {
        let next = try makeFleet(partitions: plan.movesTo ?? 0)
        note("operator", "stops everything, and moves the ledger to \(next.broker.partitions.count) partitions")
        isMoving = true
        for gateway in gateways { gateway.kill() }
        func follow() { while next.broker.now < now { next.broker.advance(by: min(500, now - next.broker.now)) } }
        var tries = 0
        repeat {
            tries += 1
            fleet.stopAll(for: 18_000)
            follow()
            fleet.begin(chaotic: tries < 10)
        } while !operation.run("move", { _ in try move(to: next, follow) }) && tries < 20
        for sentence in fleet.breakdowns + broker.violations { complain(sentence) }
        if tries == 20 { complain("the ledger is not moved") }
        follow()
        goOn(next)
    }

    private func move(to next: SimulatedFleet, _ follow: @escaping () -> Void) throws {
        let old = try access(to: fleet.broker, meanwhile: follow)
        let new = try access(to: next.broker, meanwhile: follow)
        let move = try LedgerMove(old, to: new, identity: bytes(of: "operator")(16)) { _ in }
        if !move.isDone { try move.perform { _ in } }
    }

    /// The lines of `export-keys`.
    fileprivate func exported(_ access: LedgerAccess) throws -> [UInt8] {
        var lines: [UInt8] = []
        _ = try KeyExport(access, only: nil, folder: Folder.temporary) { _ in }.write { lines += $0 }
        return lines
    }
}
