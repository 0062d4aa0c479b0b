internal import JSON
internal import Pipeline
package import Streams
internal import TestKit

/// Why the broker refuses a call of a producer.
package enum BrokerRefusal: Error, Equatable, Sendable {
    /// Another producer has initialised the transactional id, or its transaction timed out.
    case fencedProducer
    /// The member is not in the group any more, or the group has moved on.
    case staleGeneration
    /// A record that the topic never takes.
    case refusedRecord
}

extension SimulatedBroker {
    struct Producer {
        var epoch = 0
        var open: Int?
    }

    struct Transaction {
        enum State { case open, committing, aborting, done }
        enum Marker: Hashable { case topic(Topic), offsets }

        let producer: String
        let startedAt: Int64
        var state = State.open
        var topics: [Topic] = []
        var offsets: [Int32: Int64] = [:]
        /// Those of them without a worker's metadata.
        var foreign: Set<Int32> = []
        var metadata: [Int32: [UInt8]] = [:]
        /// Markers that are not written yet.
        var markers: [Marker] = []
        /// In how many steps one of them is written; 0 = all of them at once.
        var pace = 0

        var isDone: Bool { state == .done }
        var holdsOffsets: Bool { state == .open ? !offsets.isEmpty : markers.contains(.offsets) }
    }

    /// An EndTxn that is still under way when its producer has given up waiting for it.
    struct DelayedEnd {
        let producer: String
        let epoch: Int
        let due: Int64
    }

    /// InitProducerId: fences the id's previous producer and ends its transaction; waits for markers.
    ///
    /// - Returns: the new epoch.
    package func initProducer(_ name: String) -> Int {
        if let open = producers[name]?.open { decide(open, commit: wrong == .initCommits) }
        finishMarkers(of: name)
        if wrong != .initFencesNobody || producers[name] == nil { producers[name, default: Producer()].epoch += 1 }
        return producers[name]?.epoch ?? 0
    }

    /// Whether markers of the producer's last transaction are still being written.
    package func isEnding(_ name: String) -> Bool {
        transactions.contains { $0.producer == name && ($0.state == .committing || $0.state == .aborting) }
    }

    /// The end that a producer awaits after CONCURRENT_TRANSACTIONS.
    package func finishMarkers(of name: String) {
        for index in transactions.indices where transactions[index].producer == name {
            while let marker = transactions[index].markers.first { write(marker, of: index) }
        }
    }

    /// - Parameters:
    ///   - epoch: nil = an idempotent producer without transactions.
    ///   - member: of the group, at this moment; nil = none.
    package func produce(
        _ name: String,
        epoch: Int?,
        _ record: OutboundRecord,
        of member: Int? = nil
    ) throws(BrokerRefusal) {
        guard !isRefused(record) else { throw .refusedRecord }
        let applied = min(appliedOffset(record.partition), appliedByOwner[record.partition] ?? 0)
        if epoch == nil, record.stream.isOfSource, record.sourceOffset < applied {
            violations.append("\(record.partition)/\(record.sourceOffset) was answered after it was applied")
        }
        let topic = Topic(record.stream, record.partition)
        let transaction = try epoch.map { epoch throws(BrokerRefusal) in try open(name, epoch) }
        if let transaction, !transactions[transaction].topics.contains(topic) {
            transactions[transaction].topics.append(topic)
        }
        if topic.stream == .tokens { judgeToken(record, of: name) }
        if topic.stream == .ledger {
            let offset = log(topic.stream, topic.partition).highWatermark
            counts.note("\(now) \(name) writes \(offset) of ledger \(topic.partition), key \(record.key?.first ?? 0)")
        }
        logs[topic, default: PartitionLog()].append(record, transaction: transaction)
        if epoch == nil { noteMark(record, of: member) }
        deliverLate(of: name, ends: true)
    }

    /// Backends refuse a token that begins later than their own time, which is the brokers'.
    private func judgeToken(_ record: OutboundRecord, of name: String) {
        let root = record.value.flatMap { try? JSONDocument(parsing: $0).root }
        guard let token = (root?["appCheckToken"] ?? root)?["token"]?.string.flatMap({ ExchangeToken($0) }),
            let begin = token.issuedAt,
            let end = token.expiresAt
        else { return violations.append("\(name) writes a token that cannot be read") }
        let life = root?["ttl"]?.string.flatMap { Double($0.dropLast()) } ?? 0
        if begin * 1_000 > time { violations.append("\(name)'s token begins \(begin * 1_000 - time) ms too late") }
        if life > Double(end - begin) { violations.append("\(name)'s token lives for \(life) s, it says") }
    }

    /// Without transactions nothing fences a slow process: its mark may come after the next owner has read the ledger, which
    /// then answers the same requests. Two processes may have one name, and a discarded producer's mark comes late.
    private func noteMark(_ record: OutboundRecord, of member: Int?) {
        guard record.stream == .ledger, record.key == [4], let member, group.owns(record.partition, member),
            let mark = Self.mark(of: record)
        else { return }
        appliedByOwner[record.partition] = mark.position.skipsBefore
    }

    private func isRefused(_ record: OutboundRecord) -> Bool {
        let place = RecordPlace(partition: record.partition, offset: record.sourceOffset)
        return record.stream.isOfSource && refused.contains(place)
            && !(record.stream == .deadLetters && record.value == nil)
    }

    /// TxnOffsetCommit (KIP-447).
    package func addOffsets(
        _ name: String,
        epoch: Int,
        _ positions: [PartitionPosition],
        _ stamp: SimulatedGroup.Stamp,
        foreign: Set<Int32> = [],
        metadata: [Int32: [UInt8]] = [:]
    ) throws(BrokerRefusal) {
        let transaction = try open(name, epoch)
        guard group.accepts(stamp) else { throw .staleGeneration }
        for position in positions { transactions[transaction].offsets[position.partition] = position.offset }
        transactions[transaction].metadata.merge(metadata) { $1 }
        transactions[transaction].foreign = wrong == .metadataIsInvented ? [] : foreign
        if wrong == .offsetsComeEarly { note(transactions[transaction].offsets) }
        deliverLate(of: name, ends: false)
    }

    /// OffsetCommit, of at-least-once delivery.
    package func commitOffsets(
        _ positions: [PartitionPosition],
        _ stamp: SimulatedGroup.Stamp
    ) throws(BrokerRefusal) {
        guard group.accepts(stamp) else { throw .staleGeneration }
        note(Dictionary(uniqueKeysWithValues: positions.map { ($0.partition, $0.offset) }))
    }

    /// EndTxn.
    package func endTransaction(_ name: String, epoch: Int, commit: Bool) throws(BrokerRefusal) {
        guard producers[name]?.epoch == epoch else { throw .fencedProducer }
        guard let transaction = producers[name]?.open else { return }
        decide(transaction, commit: commit)
    }

    /// EndTxn whose request is still on its way.
    package func endLater(_ name: String, epoch: Int, after milliseconds: Int64) {
        delayed.append(DelayedEnd(producer: name, epoch: epoch, due: now + milliseconds))
    }

    /// OffsetFetch with require_stable. - Returns: nil while a transaction holds back one of the offsets.
    package func stableOffsets(_ partitions: [Int32]) -> [Int32: Int64]? {
        let held = transactions.contains { transaction in
            !transaction.isDone && transaction.holdsOffsets
                && partitions.contains { transaction.offsets[$0] != nil }
        }
        if held, wrong != .offsetsDoNotWait, wrong != .offsetsComeEarly { return nil }
        return Dictionary(uniqueKeysWithValues: partitions.map { ($0, committed[$0, default: 0]) })
    }

    private func open(_ name: String, _ epoch: Int) throws(BrokerRefusal) -> Int {
        guard producers[name]?.epoch == epoch else { throw .fencedProducer }
        if let open = producers[name]?.open { return open }
        transactions.append(Transaction(producer: name, startedAt: now))
        producers[name]?.open = transactions.count - 1
        return transactions.count - 1
    }

    private func decide(_ index: Int, commit: Bool) {
        producers[transactions[index].producer]?.open = nil
        transactions[index].state = commit ? .committing : .aborting
        transactions[index].markers = transactions[index].topics.map { .topic($0) }
        if !transactions[index].offsets.isEmpty { transactions[index].markers.append(.offsets) }
        transactions[index].markers.shuffle(using: &random)
        transactions[index].pace = random.chance(limits.slowMarkers) ? 3 + random.below(100) : 0
        if transactions[index].markers.isEmpty { transactions[index].state = .done }
        guard transactions[index].pace == 0 else { return counts.add(.slowMarkers) }
        while let marker = transactions[index].markers.first { write(marker, of: index) }
    }

    private func write(_ marker: Transaction.Marker, of index: Int) {
        let isCommitted = transactions[index].state == .committing
        transactions[index].markers.removeAll { $0 == marker }
        switch marker {
        case .topic(let topic): logs[topic]?.mark(index, committed: isCommitted || wrong == .abortedIsVisible)
        case .offsets:
            guard isCommitted, !dropsOffsets else { break }
            note(transactions[index].offsets)
            metadata.merge(transactions[index].metadata) { $1 }
            ownOffsets.subtract(transactions[index].foreign)
        }
        if transactions[index].markers.isEmpty { transactions[index].state = .done }
    }

    func writeMarkers() {
        for index in transactions.indices where transactions[index].pace > 0 {
            guard let marker = transactions[index].markers.first, random.below(transactions[index].pace) == 0 else {
                continue
            }
            write(marker, of: index)
        }
    }

    func timeOutTransactions() {
        for index in transactions.indices where transactions[index].state == .open {
            guard wrong != .neverTimesOut, now - transactions[index].startedAt > limits.transactionTimeout else {
                continue
            }
            counts.add(.transactionTimeout)
            // The coordinator bumps the epoch: a producer that wakes up later is fenced.
            producers[transactions[index].producer]?.epoch += 1
            decide(index, commit: false)
        }
    }

    func endDelayed() {
        let due = delayed.filter { $0.due <= now }
        delayed.removeAll { $0.due <= now }
        for end in due { try? endTransaction(end.producer, epoch: end.epoch, commit: true) }
    }
}

extension OutputTopic {
    /// Whether its records lie on their requests' partition number, and have their offsets.
    fileprivate var isOfSource: Bool { self != .ledger && self != .replies }
}
