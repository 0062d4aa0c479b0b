internal import Broker
internal import KafkaPorts
internal import Settings
internal import Streams

/// What commands beside a fleet do: read a ledger whole, write every key's record once more, requeue all dead letters; and
/// each letter that is requeued.
package enum CommandWork: Sendable { case scan, rewrite, requeue, letter }

/// Processes beside a fleet's group: a gateway's reader, which follows results from their ends, and commands, which read
/// ledgers to theirs, write them while no worker does, or requeue dead letters.
final class FleetReaders {
    private unowned let fleet: SimulatedFleet
    private var follower: Follower?
    private var isBusy = false
    private var commands = 0
    private(set) var done: [CommandWork: Int] = [:]
    private(set) var complaints: [String] = []
    private let requeue: FleetRequeue

    init(_ fleet: SimulatedFleet) {
        self.fleet = fleet
        requeue = FleetRequeue(fleet)
    }

    private var broker: SimulatedBroker { fleet.broker }

    /// A moment of the world.
    func move() {
        let follower = self.follower ?? Follower(fleet.process("gateway", of: broker), broker.partitions)
        self.follower = follower
        if fleet.chance(0.004) { follower.process.renewFiles() }
        if fleet.chance(0.3) { follower.move() }
        if follower.process.isDead {
            complaints += follower.complaints(isAtEnd: false)
            self.follower = nil
        }
        requeue.move()
        // A second one may come while the first one waits.
        if commands < 2, fleet.chance(0.004) { _ = requeueLetters() }
        guard !isBusy else { return }
        isBusy = true
        if fleet.chance(0.004) { scan(fleet.command("command", of: broker)) }
        if fleet.chance(broker.group.names.isEmpty ? 0.05 : 0.002) { rewrite(fleet.command("command", of: broker)) }
        isBusy = false
    }

    /// The world is calm, and everything is written.
    func finish() {
        finishRequeue()
        guard let follower else { return }
        follower.process.chances = .none
        for _ in 0..<3_000 where !follower.complaints(isAtEnd: true).isEmpty {
            follower.move()
            broker.advance(by: 100)
        }
        complaints += follower.complaints(isAtEnd: true)
    }

    private func finishRequeue() {
        var isDone = false
        for _ in 0..<20 where !isDone {
            requeue.calm()
            isDone = requeueLetters()
            broker.advance(by: 60_000)
            requeue.move()
        }
        if !isDone { complaints.append("no requeue comes to its end: \(requeue.lastFault)") }
        requeue.check()
        complaints += requeue.complaints
    }

    // MARK: Commands

    private func waitingTime() -> WaitingTime { fleet.waitingTime { [unowned fleet] in fleet.wait(200) } }

    /// Writes every key's record once more, as it was read: a record that came meanwhile would be overwritten.
    private func rewrite(_ process: SimulatedProcess) {
        let (broker, time) = (broker, waitingTime())
        let ports = LedgerWriter.Ports(
            makeProducer: { () throws(KafkaFault) in try process.transactions("fleet@ledger") },
            requireEmptyGroup: {
                guard broker.group.names.isEmpty else { throw CommandFault("the group has members") }
            },
            ends: { broker.ledgerEnds($0) },
            token: SimulatedToken.ofNobody,
            time: time
        )
        let writer = LedgerWriter("fleet@ledger", topic: "ledger", ports, transactionRecords: 3)
        do {
            try writer.open()
            guard let reader = try? process.recordReader(of: .ledger) else { return }
            let partitions = Int32(broker.partitions.count)
            let scan = try TopicScan(reader, partitions: partitions, timeBudget: .seconds(120), on: time)
            var keys: [Int32: [[UInt8]: [UInt8]?]] = [:]
            let ends = try LedgerReader(scan, timeBudget: .seconds(120)).readSettled { record in
                if let key = record.key, key.first == 1 { keys[record.partition, default: [:]][key] = record.value }
            }
            var records = keys.sorted { $0.key < $1.key }.flatMap { partition, keys in
                keys.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { key, value in
                    StoredRecord(partition: partition, key: key, value: value)
                }
            }[...]
            // The operator reads the plan, and sometimes asks a colleague.
            fleet.wait(fleet.chance(0.3) ? 60_000 : Int.random(in: 0...5_000, using: &fleet.random))
            for record in records { broker.hideCut(record.partition) }
            try writer.write(from: ends) { records.popFirst() }
            done[.rewrite, default: 0] += 1
        } catch {
            // A command may fail, and is run again.
            guard !(error is KafkaFault || error is CommandFault) else { return }
            complaints.append("a command ends with \(error)")
        }
    }

    /// - Returns: whether the command comes to its end.
    private func requeueLetters() -> Bool {
        commands += 1
        defer { commands -= 1 }
        guard let letters = requeue.run(waitingTime()) else { return false }
        done.merge([.requeue: 1, .letter: letters], uniquingKeysWith: +)
        return true
    }

    private func scan(_ process: SimulatedProcess) {
        let time = waitingTime()
        var given: [Int32: [Int64]] = [:]
        guard let reader = try? process.recordReader(of: .ledger) else { return }
        do {
            let scan = try TopicScan(
                reader,
                partitions: Int32(broker.partitions.count),
                timeBudget: .seconds(120),
                doubt: .seconds(5),
                on: time
            )
            let ends = try scan.ends()
            try scan.read(upTo: ends) { given[$0.partition, default: []].append($0.offset) }
            for partition in broker.partitions { check(given[partition] ?? [], partition, ends[Int(partition)].high) }
            done[.scan, default: 0] += 1
        } catch let standstill as TopicScan.Standstill {
            // No transaction is open for so long.
            let isSlow = process.reader?.isSlow(standstill.partition) ?? false
            guard broker.cutLedgers[standstill.partition] == nil, !isSlow else { return }
            complaints.append("a command gives up: partition \(standstill.partition) of the ledger stands still")
        } catch {
            // A command may fail, and is run again.
            if !(error is KafkaFault) { complaints.append("a command ends with \(error)") }
        }
    }

    private func check(_ given: [Int64], _ partition: Int32, _ end: Int64) {
        guard broker.cutLedgers[partition] == nil else { return }
        let log = broker.log(.ledger, partition)
        if let aborted = given.first(where: { !log.isCommitted(at: Int($0)) }) {
            complaints.append("a command is given offset \(aborted) of partition \(partition), which was not committed")
        }
        let known = Set(given)
        guard let lacking = log.visibleOffsets(to: end).first(where: { !known.contains($0) }) else { return }
        complaints.append("a command lacks offset \(lacking) of partition \(partition) of the ledger")
    }
}

/// A gateway's reader, and the records that it is given.
private final class Follower {
    private static let rest: Int64 = 200

    let process: SimulatedProcess
    private let feed: TopicFeed
    /// nil = it has not begun.
    private var starts: [Int32: Int64]?
    private var given: [Int32: [Int64]] = [:]
    /// Where a partition was when it gave a damaged record, each time.
    private var damages: [Int32: [Int64]] = [:]
    private var restsUntil: Int64 = 0

    init(_ process: SimulatedProcess, _ partitions: [Int32]) {
        self.process = process
        feed = TopicFeed(of: partitions) { () throws(KafkaFault) in try process.recordReader(of: .results) }
    }

    func move() {
        guard process.broker.now >= restsUntil else { return }
        // The feed forgets the position of a partition whose record is damaged for the second time.
        let positions = feed.positions
        do throws(KafkaFault) {
            guard starts != nil else {
                try feed.open()
                return starts = feed.positions
            }
            for record in try feed.poll(waiting: 0) { given[record.partition, default: []].append(record.offset) }
        } catch {
            if error.isDamage, let partition = error.partition {
                damages[partition, default: []].append(positions[partition] ?? -1)
            }
            restsUntil = process.broker.now + Self.rest
        }
    }

    /// Every committed record from the start on comes once, in its order; after one that is damaged twice some may be missing.
    ///
    /// - Parameter isAtEnd: whether all that is committed must have come by now.
    func complaints(isAtEnd: Bool) -> [String] {
        (starts ?? [:]).sorted { $0.key < $1.key }.compactMap { partition, start in
            let log = process.broker.log(.results, partition)
            let given = given[partition] ?? []
            let end = isAtEnd ? Int64(log.lastStable) : (given.last ?? -1) + 1
            let expected = log.visibleOffsets(from: start, to: end)
            guard given != expected else { return nil }
            let known = Set(given)
            let lacking = expected.filter { !known.contains($0) }
            let isDamagedTwice = Set(damages[partition] ?? []).count < damages[partition]?.count ?? 0
            guard given.count + lacking.count != expected.count || !isDamagedTwice else { return nil }
            return "a gateway lacks offsets \(lacking.prefix(5)) of partition \(partition) of the results, of "
                + "\(expected.count); \(given.count) were given"
        }
    }
}

extension SimulatedFleet {
    /// A process beside the group: while one of its calls waits, the others work.
    func command(_ name: String, of broker: SimulatedBroker, meanwhile: @escaping () -> Void = {}) -> SimulatedProcess {
        let process = process(name, of: broker)
        process.wait = { [unowned self] milliseconds in
            wait(milliseconds)
            meanwhile()
        }
        process.interlude = { [unowned process] _ in process.wait?(50) }
        return process
    }

    /// A process waits, and the others work.
    func wait(_ milliseconds: Int) {
        depth += 1
        defer { depth -= 1 }
        let end = broker.now + Int64(milliseconds)
        for _ in 0..<200 where broker.now < end { step() }
        if broker.now < end { broker.advance(by: end - broker.now) }
    }
}
