package import KafkaPorts
package import Streams

/// A member that answers its group as told, and notes what it sees.
package final class ScriptedMember {
    /// How it takes partitions over.
    package enum Manner {
        /// Reads them from their beginning at once.
        case reading
        /// As the member does: what the library has is stopped before, and all is paused afterwards.
        case paused
        case silent
    }

    package let consumer: any GroupConsumer
    package var manner: Manner
    /// nil = none, or it was taken away.
    package private(set) var assigned: Set<Int32>?
    package private(set) var assignments = 0
    package private(set) var revocations = 0
    package private(set) var losses = 0
    package private(set) var records: [RecordPlace] = []
    package private(set) var faults: [KafkaFault] = []
    package private(set) var commits: [CommitID: KafkaFault?] = [:]
    /// A change that it has not answered.
    private var owed: (() throws -> Void)?

    package init(_ consumer: any GroupConsumer, _ manner: Manner = .reading) throws {
        (self.consumer, self.manner) = (consumer, manner)
        try consumer.subscribe()
    }

    /// What changes as it goes on.
    package var progress: Int {
        assignments + revocations + losses + records.count + faults.count + commits.count
    }

    package var events: Int { assignments + revocations + losses }

    /// The offsets of a partition, as they came.
    package func offsets(_ partition: Int32) -> [Int64] {
        records.filter { $0.partition == partition }.map(\.offset)
    }

    package func forgetRecords() { records = [] }

    /// Takes one event, at most.
    package func poll(_ milliseconds: Int = 20) throws {
        switch consumer.poll(waiting: milliseconds) {
        case nil, .end?: break
        case .record(let record, _)?:
            records.append(record.stamp.place)
        case .assigned(let partitions)?:
            assignments += 1
            try owe { member in
                try member.take(partitions)
                member.assigned = Set(partitions)
            }
        case .revoked?:
            revocations += 1
            try owe(Self.release)
        case .lost?:
            losses += 1
            try owe(Self.release)
        case .fault(let fault)?: faults.append(fault)
        case .committed(let id, let fault)?: commits[id] = .some(fault)
        }
    }

    private func owe(_ answer: @escaping (ScriptedMember) throws -> Void) throws {
        owed = { [unowned self] in try answer(self) }
        if manner != .silent { try answerGroup() }
    }

    /// Answers the last change.
    package func answerGroup() throws {
        try owed?()
        owed = nil
    }

    private static func release(_ member: ScriptedMember) throws {
        member.assigned = nil
        try member.consumer.unassign()
    }

    /// Takes partitions over at their beginning.
    package func take(_ partitions: [Int32]) throws {
        try take(partitions.map { PartitionOffset(partition: $0, offset: PartitionOffset.beginning) })
    }

    package func take(_ starts: [PartitionOffset]) throws {
        guard manner == .paused else { return try consumer.assign(starts) }
        try consumer.assign([])
        _ = try consumer.assignment()
        try consumer.assign(starts)
        _ = consumer.pause(starts.map(\.partition))
    }

    /// One try of the member's order: seek, resume, seek. - Returns: whether each partition is started.
    package func start(_ starts: [PartitionOffset]) -> Bool {
        guard consumer.seek(starts, limit: 400).isEmpty else { return false }
        guard consumer.resume(starts.map(\.partition)).isEmpty else { return false }
        return consumer.seek(starts.filter { $0.offset >= 0 }, limit: 400).isEmpty
    }

    /// Tries a seek. - Returns: the faults.
    package func seek(_ partition: Int32, _ offset: Int64) -> SeekFault? {
        consumer.seek([PartitionOffset(partition: partition, offset: offset)], limit: 400)[partition]
    }
}

extension ContractWorld {
    package func member(
        _ name: String,
        _ manner: ScriptedMember.Manner = .reading,
        isStatic: Bool = false
    ) throws -> ScriptedMember {
        try ScriptedMember(process(name, isStatic: isStatic).makeConsumer(), manner)
    }

    /// A lone member with all partitions, the first of which has so many requests.
    package func loneMember(_ manner: ScriptedMember.Manner = .reading, requests: Int = 0) throws -> ScriptedMember {
        if requests > 0 { try publish(requests, to: 0, of: .requests) }
        let member = try member("one", manner)
        try poll([member], until: "all partitions are assigned") {
            member.assigned?.count == Int(partitions)
        }
        return member
    }

    /// One that is assigned all partitions, and does not answer.
    package func silentMember(requests: Int) throws -> ScriptedMember {
        try publish(requests, to: 0, of: .requests)
        let member = try member("one", .silent)
        try poll([member], until: "it is assigned") { member.assignments == 1 }
        return member
    }

    /// A lone member whose partitions are paused and start at known offsets: nothing is looked up (see A13).
    package func memberWithoutLookups(requests: Int) throws -> ScriptedMember {
        let member = try silentMember(requests: requests)
        member.manner = .paused
        try member.take(starts(at: 0))
        return member
    }

    /// Polls members in turn until the condition holds.
    package func poll(
        _ members: [ScriptedMember],
        until what: String,
        _ condition: () throws -> Bool
    ) throws {
        try until(what, progress: { members.reduce(0) { $0 + $1.progress } }) {
            if try condition() { return true }
            for member in members { try member.poll() }
            return try condition()
        }
    }

    /// Polls members in turn for a while.
    package func poll(_ members: [ScriptedMember], milliseconds: Int64) throws {
        try during(milliseconds: milliseconds) { for member in members { try member.poll() } }
    }

    /// Repeats the member's start until each partition is started.
    package func start(_ member: ScriptedMember, _ starts: [PartitionOffset]) throws {
        try poll([member], until: "partitions are started") { member.start(starts) }
    }
}
