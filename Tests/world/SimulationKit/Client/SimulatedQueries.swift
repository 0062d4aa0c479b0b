internal import DeviceLab
internal import KafkaPorts
internal import Pipeline
internal import Streams

/// One query after the other, answered by jobs whenever the seed picks them.
final class SimulatedQueries: BrokerQueries {
    private struct Asked {
        let id: QueryID
        let query: BrokerQuery
        /// When it begins to wait for the brokers; nil = it waits for the queries before it.
        var since: Int64?
        var isUnanswered = false
        /// The ledger's ends are known before the requests' are asked for.
        var ledger: [Int32: Watermarks]?
    }

    /// A planted bug: the ends of ledgers are the last stable offsets.
    var asksForStable = false
    private static let waits: Int64 = 5_000
    private static let leastPause: Int64 = 100
    private static let mostHasty = 2

    private unowned let process: SimulatedProcess
    private var asked: [Asked] = []
    private var forgotten: [QueryID] = []
    private var answers: [(id: QueryID, answer: Result<BrokerAnswer, KafkaFault>)] = []
    private var last = 0
    /// The last question that has failed, when its answer was taken, and how often it was asked again at once.
    private var failed: (query: BrokerQuery, at: Int64, hasty: Int)?
    private var isClosed = false

    private let startedPartitions: Int
    /// The last answer has told of other partitions than there were at the process's start.
    private var hasOtherTopics = false

    init(_ process: SimulatedProcess) {
        self.process = process
        startedPartitions = process.broker.shownPartitions
    }

    private var broker: SimulatedBroker { process.broker }

    func ask(_ query: BrokerQuery) -> QueryID {
        noteRetry(of: query)
        last += 1
        let id = QueryID(last)
        if hasOtherTopics, case .offsets = query { process.violate("goes on although its topics have grown") }
        let live = asked.filter { !forgotten.contains($0.id) }.count
        if live > 0 { process.violate("asks while a query is under way") }
        asked.append(Asked(id: id, query: query))
        broker.counts.note("\(broker.now) \(process.name) asks \(id.number) \(query)")
        if asked.count == 1 { work() }
        return id
    }

    /// A question that has failed is asked again after a pause, which grows.
    private func noteRetry(of query: BrokerQuery) {
        if process.hasNewAssignment { (process.hasNewAssignment, failed) = (false, nil) }
        guard let failed, failed.query == query else { return }
        if broker.now - failed.at >= Self.leastPause { return self.failed = nil }
        self.failed?.hasty += 1
        if failed.hasty == Self.mostHasty { process.violate("asks again and again without a pause") }
    }

    func forget(_ query: QueryID) {
        broker.counts.note("\(broker.now) \(process.name) forgets \(query.number)")
        answers.removeAll { $0.id == query }
        if asked.contains(where: { $0.id == query }) { forgotten.append(query) }
    }

    func nextAnswer() -> (id: QueryID, answer: Result<BrokerAnswer, KafkaFault>)? {
        guard !answers.isEmpty else { return nil }
        let next = answers.removeFirst()
        if case .failure = next.answer { failed?.at = broker.now }
        return next
    }

    func close() { isClosed = true }

    private func work() {
        process.later { [self] in
            guard !process.isDead, !isClosed, var first = asked.first else { return }
            if first.since == nil {
                first.since = broker.now
                first.isUnanswered = isUnanswered()
            }
            let answer = tried(&first)
            guard let answer else {
                asked[0] = first
                return work()
            }
            asked.removeFirst()
            note(answer, to: first.query)
            if forgotten.contains(first.id) {
                forgotten.removeAll { $0 == first.id }
            } else {
                answers.append((first.id, answer))
            }
            if !asked.isEmpty { work() }
        }
    }

    private func note(_ answer: Result<BrokerAnswer, KafkaFault>, to query: BrokerQuery) {
        guard case .failure = answer else { return failed = nil }
        if case .ends = query { process.reader?.noteUnanswered() }
        failed = (query, broker.now, failed?.query == query ? failed?.hasty ?? 0 : 0)
    }

    private func isUnanswered() -> Bool {
        if process.strikes(.queryUnanswered, process.chances.client.brokerSilent) { process.isBrokerSilent = true }
        // A calm world answers.
        if process.chances.client.queryUnanswered == 0 { process.isBrokerSilent = false }
        if process.isBrokerSilent { broker.counts.add(.queryUnanswered) }
        return process.isBrokerSilent || process.strikes(.queryUnanswered, process.chances.client.queryUnanswered)
    }

    /// nil = not yet.
    private func tried(_ asked: inout Asked) -> Result<BrokerAnswer, KafkaFault>? {
        let limit: Int64 =
            switch asked.query {
            case .offsets(_, let limit): Int64(limit)
            case .ledgerEnds: 1_000
            default: Self.waits
            }
        let isOver = broker.now - (asked.since ?? broker.now) >= limit
        let timeout = KafkaFault.timedOut("no broker has answered in \(limit) ms")
        if asked.isUnanswered { return isOver ? .failure(timeout) : nil }
        if process.strikes(.retriable, process.chances.retriable) {
            return .failure(KafkaFault(.transport, "the connection broke"))
        }
        switch asked.query {
        case .topics, .topicsAndMarks:
            hasOtherTopics = broker.shownPartitions != startedPartitions
            if hasOtherTopics { process.mayEnd = true }
            guard asked.query == .topicsAndMarks else { return .success(.topics(broker.topicDescriptions)) }
            return .success(.topicsAndMarks(broker.topicDescriptions, marked: broker.markedPartitions))
        case .offsets(let partitions, _):
            guard let offsets = offsets(partitions) else { return isOver ? .failure(timeout) : nil }
            return .success(offsets)
        case .ends(let partitions, let again):
            let all = (partitions + again).sorted()
            guard let ledger = asked.ledger else {
                asked.ledger = ledgerEnds(all)
                return nil
            }
            return .success(ends(all, ledger))
        case .ledgerEnds(let partitions):
            guard case .ends(let ledger, _, let fault) = ends(partitions.sorted(), ledgerEnds(partitions.sorted()))
            else { return nil }
            return fault.map { .failure($0) } ?? .success(.ends(ledger: ledger, requests: [:], nil))
        case .members: return .success(.members(Set(broker.group.names.map { Array($0.utf8) })))
        case .abortTransaction(let id): return abort(String(decoding: id, as: UTF8.self), timeout)
        }
    }

    private func abort(_ name: String, _ timeout: KafkaFault) -> Result<BrokerAnswer, KafkaFault>? {
        if process.strikes(.initUnanswered, process.chances.client.initUnanswered) {
            // It is under way, and fences whichever producer has the id when it arrives.
            broker.arriveLater(after: 1 + Int64(process.random.below(5_000))) { [broker] in
                broker.counts.add(.initArrivedLate)
                broker.abort(name)
            }
            return .failure(timeout)
        }
        guard !broker.isEnding(name) || process.chances.retriable == 0 || !process.chance(0.3) else { return nil }
        broker.abort(name)
        return .success(.aborted)
    }

    /// Stable ones. - Returns: nil while a transaction holds one back.
    private func offsets(_ partitions: [Int32]) -> BrokerAnswer? {
        guard broker.stableOffsets(partitions) != nil else {
            broker.counts.add(.unstableOffsets)
            return nil
        }
        let own = partitions.map { partition in
            CommittedOffset(
                partition: partition,
                offset: broker.committed[partition],
                metadata: broker.ownOffsets.contains(partition) ? PartitionPositions.metadata : []
            )
        }
        return .offsets(own, hasAny: !broker.committed.isEmpty)
    }

    private func ledgerEnds(_ partitions: [Int32]) -> [Int32: Watermarks] {
        partitions.reduce(into: [:]) { ends, partition in
            let log = broker.log(.ledger, partition)
            var high = Int64(asksForStable || broker.wrong == .endsAreStable ? log.lastStable : log.highWatermark)
            // A former leader does not know of the last records.
            if high > 0, process.strikes(.staleLeader, process.chances.client.staleLeader) {
                high -= 1 + Int64(process.random.below(Int(high)))
            }
            ends[partition] = Watermarks(low: 0, high: high)
        }
    }

    private func ends(_ partitions: [Int32], _ ledger: [Int32: Watermarks]) -> BrokerAnswer {
        var requests: [Int32: Watermarks] = [:]
        for partition in partitions {
            let ends = broker.requestEnds(partition)
            requests[partition] = Watermarks(low: ends.low, high: ends.high)
        }
        guard partitions.count > 1, process.strikes(.retriable, process.chances.retriable) else {
            return .ends(ledger: ledger, requests: requests, nil)
        }
        // One leader is absent.
        let absent = partitions[process.random.below(partitions.count)]
        let fault = KafkaFault(.leaderNotAvailable, "partition \(absent) has no leader")
        return .ends(
            ledger: ledger.filter { $0.key != absent },
            requests: requests.filter { $0.key != absent },
            fault
        )
    }
}

extension SimulatedBroker {
    /// The requests, named `requests`, and the outputs by their streams' names.
    package static let requestsTopic = "requests"

    var topicDescriptions: [TopicDescription] {
        ([Self.requestsTopic] + OutputTopic.allCases.map(\.rawValue)).map {
            TopicDescription(name: $0, partitions: shownPartitions, replication: 3)
        }
    }
}
