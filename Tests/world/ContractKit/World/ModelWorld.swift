package import BrokerKit
internal import DeviceLab
package import KafkaPorts
internal import Member
package import SimulationKit
internal import Streams
internal import TestKit

/// The simulation's client library and broker, under a seed.
package final class ModelWorld: ContractWorld {
    package let partitions: Int32 = 4
    package let broker: SimulatedBroker
    private var processes: [SimulatedProcess] = []
    private var random: SeededRandom
    private var published: [Int32: Int64] = [:]
    private var chances = ModelWorld.calm
    private var isAway = false

    /// - Parameter wrong: what the model is wrong about; nil = nothing that is known.
    package init(seed: UInt64, wrong: WrongModel? = nil) {
        let records = (0..<partitions).map { RequestRecords.record([1], key: nil, partition: $0, offset: 0) }
        broker = SimulatedBroker(records: records, seed: seed)
        // The partitions exist, and are empty.
        for partition in 0..<partitions { broker.retainOnly(partition, fromIndex: 1) }
        random = SeededRandom(seed: seed)
        broker.wrong = wrong
    }

    /// Threads of a library lose their cores in the calmest world.
    private static let calm = {
        var chances = FaultChances.none
        chances.client.preempted = 0.02
        return chances
    }()

    package var hasTransactions: Bool { true }

    package var now: Moment { Moment(milliseconds: broker.now) }

    private func newProcess(_ name: String, isStatic: Bool) -> SimulatedProcess {
        let process = SimulatedProcess(
            name: name,
            isStatic: isStatic,
            broker: broker,
            seed: random.next(),
            chances: chances
        )
        processes.append(process)
        return process
    }

    private func settings(_ name: String) -> OutputWriter.Settings {
        OutputWriter.Settings(delivery: .transaction, transactionalID: name, isStaticMember: false)
    }

    package func process(_ name: String, isStatic: Bool) throws -> MemberPorts {
        newProcess(name, isStatic: isStatic).ports(settings(name))
    }

    package func transactionalID(_ name: String) -> String { name }

    package func producer(_ name: String, _ more: ProducerSettings) throws -> any TransactionProducer {
        let process = newProcess(name, isStatic: false)
        if more.queue != nil { process.chances.client.queueFull = 0.5 }
        let made = try process.makeProducer(settings(name))
        guard case .transactional(let producer) = made else { throw Standstill("no transactions") }
        return producer
    }

    package func member(_ name: String, _ delivery: MemberDelivery, outputMilliseconds: Int) throws -> MemberDriver {
        let process = newProcess(name, isStatic: false)
        let kind: OutputWriter.Settings.Delivery = delivery == .exactlyOnce ? .transaction : .atLeastOnce
        let writer = OutputWriter.Settings(delivery: kind, transactionalID: name, isStaticMember: false)
        var settings = MemberSettings(
            delivery: kind,
            group: broker.groupName,
            stableID: name,
            requests: SimulatedBroker.requestsTopic,
            ledger: OutputTopic.ledger.rawValue,
            makeIdentity: process.makeIdentity
        )
        (settings.partitions, settings.outputMilliseconds) = (partitions, Int64(outputMilliseconds))
        let core = try KafkaMember(settings, process.ports(writer), at: now)
        let member = SteppedMember(
            MemberStreams(core) { process.now },
            passing: { [unowned self] in pass(Int64($0)) },
            closing: { core.close(at: process.now) }
        )
        return MemberDriver(member)
    }

    package func publish(_ count: Int, to partition: Int32, of topic: ContractTopic) throws {
        for _ in 0..<count {
            switch topic {
            case .requests:
                let offset = published[partition, default: 0]
                published[partition] = offset + 1
                broker.add([RequestRecords.record([1], key: nil, partition: partition, offset: offset)])
            case .ledger:
                try broker.produce("publisher", epoch: nil, ScriptedProducer.record(1, partition: partition))
            }
        }
        broker.offerAll()
    }

    package func cause(_ fault: WorldFault) throws {
        switch fault {
        // Its answers take their time anyway, and its leaders have no places.
        case .slow, .leaderMoves: return
        case .away: (isAway, chances.client.queryUnanswered, chances.client.bytesPerSecond) = (true, 1, 1)
        case .back, .calm: (isAway, chances) = (false, Self.calm)
        case .unanswered(.addPartitionsToTransaction, times: 0): chances.client.bytesPerSecond = 1
        case .unanswered(.endTransaction, times: 0): chances.client.endUnanswered = 1
        case .unanswered(.transactionOffsetCommit, times: 0): chances.client.offsetsUnanswered = 1
        case .unanswered, .late: chances.hiddenRepeat = 1
        case .refused(.addOffsetsToTransaction, _, _): chances.retriable = 1
        case .refused(.transactionOffsetCommit, _, _): chances.abortable = 1
        case .refused(.produce, _, _): chances.client.ackWithoutOffset = 1
        case .compaction: return broker.compact(0)
        case .ledgerRecreated: return broker.recreateLedgers()
        case .offsetSet(let offset): return broker.setOffset(offset, of: 0)
        case .refused, .topicMade: throw Standstill("the model has no \(fault)")
        }
        for process in processes { process.chances = chances }
    }

    /// The group has to miss the member, too.
    package var pollLimit: Int64 { 42_000 }

    package func hasGroup() throws -> Bool { throw Standstill("the model has one group") }

    package func until(_ what: String, progress: () -> Int, _ condition: () throws -> Bool) throws {
        var (last, since) = (progress(), broker.now)
        while try !condition() {
            pass(Int64.random(in: 1...10, using: &random))
            let mark = progress()
            if mark != last { (last, since) = (mark, broker.now) }
            guard broker.now - since < Self.standstill else { throw Standstill(what) }
        }
    }

    private static let standstill: Int64 = 30_000

    /// Lets time pass: clients send heartbeats, and other threads get on.
    private func pass(_ milliseconds: Int64) {
        for process in processes {
            if !isAway, let id = process.groupID { broker.group.heartbeat(id, at: broker.now + milliseconds) }
            while process.runJob(), Bool.random(using: &random) {}
        }
        broker.advance(by: milliseconds)
    }
}
