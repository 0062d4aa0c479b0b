internal import Gateway
internal import Kafka
internal import KafkaPorts
internal import Risk
internal import Streams
internal import Threads

@testable internal import Refresher

/// A group's member that a test drives: it gives the events that are put in, and notes what is asked of it.
final class FakeConsumer: GroupConsumer {
    private final class OneRecord: RecordMemory {
        private let record: InboundRecord
        init(_ record: InboundRecord) { self.record = record }
        func takeRecord(_ index: Int) -> InboundRecord { record }
    }

    private final class Token: MemberToken {}

    private var events: [GroupEvent] = []
    private(set) var assigned: [PartitionOffset] = []
    private(set) var committed: [PartitionOffset] = []
    /// What was asked for, in its order.
    private(set) var steps: [String] = []
    var commitFault: KafkaFault?
    /// Whether commits get no answer.
    var isSilent = false
    var seekFaults: [Int32: SeekFault] = [:]
    private var lastCommit = 0

    func put(_ event: GroupEvent) { events.append(event) }

    func put(_ record: ReceiptRecord, partition: Int32) {
        let inbound = InboundRecord(
            topic: "receipts",
            partition: partition,
            offset: record.offset,
            timestamp: 0,
            key: record.key,
            value: record.value,
            headers: record.headers.map { RecordHeader(name: $0.name, value: $0.value) }
        )
        put(.record(UncopiedRecord(RecordStamp(inbound), 0, in: OneRecord(inbound)), bytes: 0))
    }

    func subscribe() { steps.append("subscribe") }
    func poll(waiting milliseconds: Int) -> GroupEvent? { events.isEmpty ? nil : events.removeFirst() }

    func assign(_ starts: [PartitionOffset]) {
        assigned = starts
        steps.append("assign")
    }

    func unassign() {
        assigned = []
        steps.append("unassign")
    }

    func assignment() -> Set<Int32> { Set(assigned.map(\.partition)) }

    func pause(_ partitions: [Int32]) -> [Int32: KafkaFault] {
        steps.append("pause")
        return [:]
    }

    func resume(_ partitions: [Int32]) -> [Int32: KafkaFault] {
        steps.append("resume")
        return [:]
    }

    func seek(_ starts: [PartitionOffset], limit milliseconds: Int) -> [Int32: SeekFault] {
        steps += starts.map { "seek \($0.partition) \($0.offset)" }
        return seekFaults
    }

    func wake(_ partitions: [Int32], limit milliseconds: Int) {}

    func commit(_ offsets: [PartitionOffset]) -> CommitID {
        lastCommit += 1
        let id = CommitID(lastCommit)
        if commitFault == nil { committed += offsets }
        steps.append("commit")
        if !isSilent { put(.committed(id, commitFault)) }
        return id
    }

    func token() -> any MemberToken { Token() }
    var isAssignmentLost: Bool { false }
    var observations: ConsumerObservations { ConsumerObservations() }
    func explained(_ fault: KafkaFault) -> KafkaFault { fault }
    func close(limit milliseconds: Int) { steps.append("close") }
    func discard() { steps.append("discard") }
}

/// Calls that a test answers.
class FakeCaller: CallPort {
    private(set) var calls: [ReceiptCall] = []
    private var ends: [UInt: @Sendable (CallReply) -> Void] = [:]
    private(set) var isStopped = false

    func begin(_ call: ReceiptCall, end: @escaping @Sendable (CallReply) -> Void) {
        calls.append(call)
        ends[call.number] = end
    }

    func answer(_ number: UInt, _ reply: CallReply) { ends.removeValue(forKey: number)?(reply) }

    func stop() { isStopped = true }
}

/// Requests that a test acknowledges.
final class FakeOutlet: RequestOutlet {
    private let records = Locked<[OutboundRequest]>([])

    var written: [OutboundRequest] { records.withLock { $0 } }

    func write(_ record: OutboundRequest) { records.withLock { $0.append(record) } }
}
