package import AppAttest
internal import DeviceLab
package import Risk
internal import Streams

/// A receipt of the simulated topic.
package struct SimulatedReceipt: Sendable, Equatable {
    package let key: Int
    package let dates: ReceiptDates
    /// How often the key had been attested by then: Apple links a chain of receipts to its attestation.
    package let attestation: Int

    package init(key: Int, dates: ReceiptDates, attestation: Int = 1) {
        (self.key, self.dates, self.attestation) = (key, dates, attestation)
    }
}

/// The receipts topic, the worker that writes it, Apple, and what must hold: no position passes a receipt whose exchange
/// has not ended. It asks no refresher anything.
package final class RefreshBooks {
    static let start = EvaluationTime(milliseconds: 1_700_000_000_000)
    /// Apple knows of an attestation for so long.
    private static let known = 100 * Milliseconds.second
    private static let mostKeys = 24
    /// Kinds of faults that Apple's answers have.
    package static let faults = 6

    private struct Place: Hashable {
        let line: ReceiptLine
        let partition: Int32
        let offset: Int64
    }

    private struct Exchange {
        let place: Place
        /// The key, and the creation of the receipt that was sent.
        let key: Int
        let sent: EvaluationTime
        var received: EvaluationTime?
    }

    private let partitions: Int
    private var random: SeededRandom
    private var topic: [Int32: [(offset: Int64, receipt: SimulatedReceipt)]] = [:]
    private(set) var records: [InboundRecord] = []
    private var newest: [Int: SimulatedReceipt] = [:]
    private var attested: [Int: EvaluationTime] = [:]
    /// By the refresher's id and the number of its call.
    private var exchanges: [Int: [UInt: Exchange]] = [:]
    private var failures: [Place: Int] = [:]
    private var ended: Set<Place> = []
    private var lost: Set<RecordPlace> = []
    private var checked: [Int: [Int32: Int64]] = [:]
    private var events = EventQueue<() -> Void>()
    package private(set) var complaints: [String] = []
    /// When each call began, with its line.
    package private(set) var calls: [(line: ReceiptLine, at: EvaluationTime)] = []
    /// By Apple's status; 0 = no answer.
    package private(set) var answers: [Int: Int] = [:]

    init(partitions: Int, seed: UInt64) {
        (self.partitions, random) = (partitions, SeededRandom(seed: seed))
        for key in 0..<partitions {
            let dates = ReceiptDates(type: .attest, createdAt: Self.start, expiresAt: Self.start.after(days: 90))
            records.append(append(SimulatedReceipt(key: key, dates: dates, attestation: 1)))
            attested[key] = Self.start
        }
    }

    /// The receipts of a line that it has to exchange, at least once.
    package func dueCount(of line: ReceiptLine) -> Int {
        topic.values.joined().count { line.takes($0.receipt.dates.type) }
    }

    /// A record that no reader gets any more.
    func lose(_ partition: Int32, _ offset: Int64) {
        lost.insert(RecordPlace(partition: partition, offset: offset))
        for line in ReceiptLine.allCases { ended.insert(Place(line: line, partition: partition, offset: offset)) }
    }

    func complain(_ text: String) { complaints.append(text) }

    // MARK: What happens later

    func later(_ milliseconds: Int64, at time: EvaluationTime, _ action: @escaping () -> Void) {
        events.add(action, at: time.after(milliseconds: milliseconds))
    }

    func happen(until time: EvaluationTime) {
        while let action = events.take(until: time) { action() }
    }

    var isQuiet: Bool { events.next == nil }

    // MARK: The topic

    func end(of partition: Int32) -> Int64 { topic[partition]?.last.map { $0.offset + 1 } ?? 0 }

    /// Whether a position is behind the last record that can be read.
    func isEnd(_ position: Int64, of partition: Int32) -> Bool {
        let last = topic[partition]?.last { !lost.contains(RecordPlace(partition: partition, offset: $0.offset)) }
        return position > last?.offset ?? -1
    }

    /// An accepted attestation, of an old key or another one; nil = enough of them.
    func attest(at time: EvaluationTime) -> SimulatedReceipt? {
        let key = Int(random.next() % UInt64(Self.mostKeys))
        guard (newest[key]?.attestation ?? 0) < 8 else { return nil }
        attested[key] = time
        let dates = ReceiptDates(type: .attest, createdAt: time, expiresAt: time.after(days: 90))
        return SimulatedReceipt(key: key, dates: dates, attestation: (newest[key]?.attestation ?? 0) + 1)
    }

    /// Offsets have gaps: markers of transactions.
    func append(_ receipt: SimulatedReceipt) -> InboundRecord {
        let partition = Int32(receipt.key % partitions)
        let offset = end(of: partition) + Int64(random.next() % 2)
        topic[partition, default: []].append((offset, receipt))
        newest[receipt.key] = receipt
        return FakeReceipts.record(receipt, offset: offset).inbound(partition: partition)
    }

    /// A request `verifyReceipt` has arrived.
    ///
    /// - Returns: the receipt that the worker writes; nil where it refuses a superseded one.
    func arrived(_ number: UInt, of id: Int) -> SimulatedReceipt? {
        guard let exchange = exchanges[id]?[number], let received = exchange.received else { return nil }
        ended.insert(exchange.place)
        guard let kept = newest[exchange.key], received > kept.dates.createdAt, exchange.sent >= kept.dates.createdAt
        else { return nil }
        // Due five seconds later at the earliest.
        let notBefore = received.after(milliseconds: 5_000 - ReceiptLine.marginMilliseconds)
        let dates = ReceiptDates(
            type: .receipt,
            createdAt: received,
            notBefore: notBefore,
            expiresAt: received.after(days: 90)
        )
        return SimulatedReceipt(key: exchange.key, dates: dates, attestation: kept.attestation)
    }

    // MARK: Calls

    func note(_ call: ReceiptCall, by id: Int, teams: [String], at time: EvaluationTime) {
        calls.append((call.pair.line, time))
        let place = Place(line: call.pair.line, partition: call.pair.partition, offset: call.offset)
        guard let receipt = topic[place.partition]?.first(where: { $0.offset == place.offset })?.receipt else {
            return complain("\(place) is called for and is not there")
        }
        let dates = receipt.dates
        let environment = FakeReceipts.environment(of: receipt.key)
        if time < place.line.due(dates, RefreshFleet.lines) { complain("\(place) is called for before it is due") }
        if !place.line.takes(dates.type) { complain("\(place) is called for by a line that does not take it") }
        if call.account.environment != environment { complain("\(place) is sent to another host") }
        if call.grant.team != teams[receipt.key % 2] { complain("\(place) is sent with another team's token") }
        exchanges[id, default: [:]][call.number] = Exchange(place: place, key: receipt.key, sent: dates.createdAt)
    }

    /// Apple's answer.
    ///
    /// - Parameter fault: the kind of each fault; nil = any.
    func answer(
        _ call: ReceiptCall,
        of id: Int,
        faults: Double,
        only fault: Int?,
        at time: EvaluationTime
    ) -> CallReply {
        let reply = reply(call, faults, fault, at: time)
        let place = Place(line: call.pair.line, partition: call.pair.partition, offset: call.offset)
        guard case .answered(let answer) = reply else {
            answers[0, default: 0] += 1
            failures[place, default: 0] += 1
            return reply
        }
        answers[answer.status, default: 0] += 1
        switch answer.content {
        case .other(.unauthorized), .other(.throttled), .other(.unavailable): failures[place, default: 0] += 1
        // It has ended once its request has arrived.
        case .receipt: exchanges[id]?[call.number]?.received = time
        default: ended.insert(place)
        }
        return reply
    }

    private func reply(_ call: ReceiptCall, _ faults: Double, _ fault: Int?, at time: EvaluationTime) -> CallReply {
        func status(_ number: Int) -> CallReply {
            .answered(ReceiptAnswer(status: number, headers: [], body: [], at: time))
        }
        if Double.random(in: 0..<1, using: &random) < faults {
            switch fault ?? Int(random.next() % UInt64(Self.faults)) {
            case 0: return .timedOut
            case 1: return .failed
            case 2: return status(200)
            case 3: return status(401)
            case 4: return status(429)
            default: return status(503)
            }
        }
        let key = topic[call.pair.partition]?.first { $0.offset == call.offset }?.receipt.key
        guard let begin = key.flatMap({ attested[$0] }), time.since(begin) < Self.known else { return status(404) }
        return .answered(FakeReceipts.answer(createdAt: time))
    }

    // MARK: Positions

    /// Every receipt before a committed position has had its exchange, or five calls.
    func check(_ line: ReceiptLine, _ committed: [Int32: Int64]) {
        for (partition, offset) in committed.sorted(by: { $0.key < $1.key }) {
            let from = checked[line.rawValue]?[partition] ?? 0
            guard offset > from else { continue }
            checked[line.rawValue, default: [:]][partition] = offset
            for record in topic[partition] ?? [] where (from..<offset).contains(record.offset) {
                let place = Place(line: line, partition: partition, offset: record.offset)
                let isDone = ended.contains(place) || failures[place] ?? 0 >= 5
                if line.takes(record.receipt.dates.type), !isDone {
                    complain("line \(line.name) passes offset \(record.offset) of partition \(partition)")
                }
            }
        }
    }
}

extension EvaluationTime {
    fileprivate func after(days: Int64) -> EvaluationTime { after(milliseconds: days * Milliseconds.day) }
}
