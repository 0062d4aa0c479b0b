internal import AppAttest
package import KafkaPorts
internal import Member
package import Risk
internal import Settings
internal import Streams
package import Telemetry

/// A line's member of its consumer group: it hands records to the driver, pauses and resumes partitions as that says,
/// and commits its positions.
package final class LineGroup {
    /// Records of one poll, so that the other lines get their turns.
    private static let mostRecords = 256
    /// How long a revocation waits for its commit, in slices.
    private static let revokeSlices = 10
    private static let sliceMilliseconds = 100
    private static let seekMilliseconds = 200
    private static let closeMilliseconds = 3_000

    let line: ReceiptLine
    private var group: GroupReader
    /// Where each partition is that gave damaged bytes, and how often each place after that did.
    private var damages: [Int32: (next: Int64, times: [Int64: Int])] = [:]
    private static let mostDamages = 3
    /// Further places without a record between are passed at once: each costs another reading of those before it.
    private static let mostDamagedPlaces = 8
    /// Milliseconds in which the group was served: after a sleep of the process its library has not caught up yet.
    private var served: Int64 = 0
    private static let mostServed: Int64 = 1_000
    /// How long it was served when each partition gave its last record, or was resumed for want of one.
    private var heard: [Int32: Int64] = [:]
    private static let silenceMilliseconds: Int64 = 30_000
    private let partitions: Int32
    private let say: (LogEvent) -> Void
    /// The commit whose answer has not come yet; the answer may never come.
    private var commit: (id: CommitID, partitions: [Int32], begun: EvaluationTime)?
    private static let commitLimit: Int64 = 30_000
    /// The time of the last poll.
    private var time = EvaluationTime(milliseconds: 0)
    /// Whether the group has given this member an assignment, even an empty one.
    private var isMember = false
    /// The last fault of the group that another token, or its coordinator, may end.
    private var refusal: (sentence: String, at: EvaluationTime)?
    /// The library joins again within seconds, and says so where it fails.
    private static let refusalMilliseconds: Int64 = 60_000

    /// Why it takes no part in the work; nil = it does.
    var unfitness: String? {
        guard !isMember else { return nil }
        guard let refusal, time.since(refusal.at) < Self.refusalMilliseconds else {
            return "the groups have assigned no partition yet"
        }
        return refusal.sentence
    }

    /// - Parameters:
    ///   - partitions: those of the topic at the start.
    ///   - makeConsumer: of this line's group: now, and where one has to be replaced.
    package init(
        _ line: ReceiptLine,
        partitions: Int32,
        say: @escaping (LogEvent) -> Void,
        makeConsumer: @escaping () throws(KafkaFault) -> any GroupConsumer
    ) throws(KafkaFault) {
        (self.line, self.partitions, self.say) = (line, partitions, say)
        group = try GroupReader(makeConsumer)
    }

    private var consumer: any GroupConsumer { group.consumer }

    package func start() throws(KafkaFault) { try consumer.subscribe() }

    /// Serves the group: takes what has come, and waits for nothing.
    ///
    /// - Throws: what ends the program: a fatal fault, or a topic with more partitions than at the start.
    func poll(_ driver: inout RefreshDriver, at time: EvaluationTime) throws {
        served += min(Self.mostServed, time.since(self.time))
        self.time = time
        if let open = commit, time.since(open.begun) >= Self.commitLimit {
            commit = nil
            driver.commitFailed(open.partitions, of: line)
        }
        if consumer.isOutdated, (try? group.replace()) != nil { try joinAgain(&driver) }
        for _ in 0..<Self.mostRecords {
            guard let event = consumer.poll(waiting: 0) else { break }
            try take(event, &driver, at: time)
        }
        flow(&driver)
    }

    private func take(_ event: GroupEvent, _ driver: inout RefreshDriver, at time: EvaluationTime) throws {
        switch event {
        case .record(let record, _): take(record.take(), &driver, at: time)
        case .end: break
        case .assigned(let partitions): try assign(partitions, &driver)
        case .revoked: try revoke(&driver, isLost: false)
        case .lost: try revoke(&driver, isLost: true)
        case .committed(let id, let fault): note(id, fault, &driver)
        case .fault(let fault):
            if fault.isFencedMember { return try renew(after: fault, &driver, at: time) }
            if fault.isFatal || fault.isRefusal && !fault.mayHeal { throw fault }
            if fault.mayHeal { refusal = ("the group of line \(line.name) cannot be joined: \(fault.message)", time) }
            say(LogEvent(fault))
            if fault.isDamage, let partition = fault.partition { try readAgain(partition, fault.offset, &driver) }
        }
    }

    /// The library skips bytes that did not arrive as they were written: they are read again, but for a place that is
    /// damaged three times, which is passed. Several faults may report one damaged batch until it is read again.
    private func readAgain(_ partition: Int32, _ offset: Int64?, _ driver: inout RefreshDriver) throws {
        guard let next = driver.readOffset(of: pair(partition)) else { return }
        var times = damages[partition].flatMap { $0.next == next ? $0.times : nil } ?? [:]
        times[offset ?? next, default: 0] += 1
        damages[partition] = (next, times)
        guard times[offset ?? next] ?? 0 < Self.mostDamages, times.count <= Self.mostDamagedPlaces else { return }
        if next > 0 { return driver.readAgain(pair(partition)) }
        // Only the group knows where to begin.
        try group.replace()
        try joinAgain(&driver)
    }

    private func renew(after fault: KafkaFault, _ driver: inout RefreshDriver, at time: EvaluationTime) throws {
        guard try group.replaceFenced(at: Moment(milliseconds: time.milliseconds)) else {
            throw fault.ofNamesake("this member of the line \(line.name)", "the refresher another name")
        }
        say(LogEvent(fault.with(isFatal: false, requiresAbort: false)))
        try joinAgain(&driver)
    }

    /// The client is another one, and what the old one had is lost.
    private func joinAgain(_ driver: inout RefreshDriver) throws(KafkaFault) {
        (commit, isMember) = (nil, false)
        let pairs = driver.pairs.filter { $0.line == line }
        for pair in pairs { driver.revoke(pair) }
        tell(.partitionsLost, pairs.map(\.partition))
        try consumer.subscribe()
    }

    private func take(_ record: InboundRecord, _ driver: inout RefreshDriver, at time: EvaluationTime) {
        let receipt = ReceiptRecord(
            offset: record.offset,
            key: record.key,
            value: record.value,
            headers: record.headers.map { ($0.name, $0.value) }
        )
        heard[record.partition] = served
        driver.take(receipt, of: pair(record.partition), at: time)
        // The damaged place is passed, or was read at last. Records that come before it is read again do not count.
        if let damage = damages[record.partition], let next = driver.readOffset(of: pair(record.partition)),
            next > damage.next
        {
            damages[record.partition] = nil
        }
    }

    private func pair(_ partition: Int32) -> LinePair { LinePair(line: line, partition: partition) }

    private func assign(_ taken: [Int32], _ driver: inout RefreshDriver) throws {
        (isMember, refusal) = (true, nil)
        if let added = taken.first(where: { !(0..<partitions).contains($0) }) {
            throw CommandFault(
                "the receipts topic has a partition \(added) and had \(Int(partitions).counted("partition")) at the start: start again."
            )
        }
        // The library asks for the committed offsets, as often as it must.
        try consumer.assign(taken.map { PartitionOffset(partition: $0, offset: PartitionOffset.stored) })
        for partition in taken { driver.assign(pair(partition)) }
        // Not at once: a resume that overtakes a partition's start makes the library drop the start.
        heard = Dictionary(uniqueKeysWithValues: taken.map { ($0, served) })
        tell(.partitionsAssigned, taken)
    }

    private func revoke(_ driver: inout RefreshDriver, isLost: Bool) throws {
        let pairs = driver.pairs.filter { $0.line == line }
        let faults = isLost ? [] : commitAndWait(&driver, slices: Self.revokeSlices)
        try consumer.unassign()
        (commit, isMember) = (nil, false)
        for pair in pairs { driver.revoke(pair) }
        tell(isLost ? .partitionsLost : .partitionsRevoked, pairs.map(\.partition))
        // A fatal fault is reported once.
        for fault in faults { try take(.fault(fault), &driver, at: time) }
    }

    private func tell(_ name: LogEvent.Name, _ partitions: [Int32]) {
        guard !partitions.isEmpty else { return }
        let list = partitions.sorted().map(String.init).joined(separator: ", ")
        let verb =
            switch name {
            case .partitionsAssigned: "reads"
            case .partitionsLost: "has lost"
            default: "gives back"
            }
        let noun = partitions.count == 1 ? "partition" : "partitions"
        say(LogEvent(.info, name, "line \(line.name) \(verb) \(noun) \(list)"))
    }
}

// MARK: - Flow and commits

extension LineGroup {
    private func flow(_ driver: inout RefreshDriver) {
        resumeSilent(&driver)
        let flow = driver.takeFlow(of: line)
        if !flow.pause.isEmpty { _ = consumer.pause(flow.pause) }
        guard !flow.resume.isEmpty else { return }
        let partitions = flow.resume.map(\.partition)
        for partition in partitions { heard[partition] = served }
        let failed = Set(consumer.resume(partitions).keys)
        let starts = flow.resume.filter { !failed.contains($0.partition) }
            .map { PartitionOffset(partition: $0.partition, offset: $0.from) }
        let unsought = Set(consumer.seek(starts, limit: Self.seekMilliseconds).keys)
        let again = failed.union(unsought)
        if !again.isEmpty { _ = consumer.pause(again.sorted()) }
        for partition in again { driver.resumeFailed(pair(partition)) }
        consumer.wake(partitions.filter { !again.contains($0) }, limit: Self.seekMilliseconds)
    }

    /// A pause outlives the assignment in which it was made, and the library may drop a resume without a word: partitions
    /// that are read and give nothing are resumed once more. A resume of one that is not paused goes back to where it was
    /// started: a seek has to follow, once anything was read.
    private func resumeSilent(_ driver: inout RefreshDriver) {
        let silent = driver.readPartitions(of: line).filter {
            heard[$0].map { served - $0 >= Self.silenceMilliseconds } ?? true
        }
        guard !silent.isEmpty else { return }
        for partition in silent { heard[partition] = served }
        let unread = silent.filter { driver.readOffset(of: pair($0)) == 0 }
        if !unread.isEmpty { _ = consumer.resume(unread) }
        for partition in silent where !unread.contains(partition) { driver.readAgain(pair(partition)) }
    }

    /// Begins a commit of positions that have moved, unless one is under way.
    func commit(_ driver: inout RefreshDriver) {
        guard commit == nil else { return }
        let moved = driver.takePositions(of: line)
        guard !moved.isEmpty else { return }
        let partitions = moved.map(\.partition)
        do throws(KafkaFault) {
            let id = try consumer.commit(moved.map { PartitionOffset(partition: $0.partition, offset: $0.position) })
            commit = (id, partitions, time)
        } catch {
            driver.commitFailed(partitions, of: line)
            say(LogEvent(error))
        }
    }

    private func note(_ id: CommitID, _ fault: KafkaFault?, _ driver: inout RefreshDriver) {
        guard let open = commit, open.id == id else { return }
        commit = nil
        guard let fault else { return }
        driver.commitFailed(open.partitions, of: line)
        say(LogEvent(fault))
    }

    /// Commits what has moved, and waits for the answer for a while; records that come meanwhile are not taken.
    ///
    /// - Parameter slices: of a tenth of a second.
    /// - Returns: the faults of the group that came meanwhile.
    @discardableResult
    private func commitAndWait(_ driver: inout RefreshDriver, slices: Int) -> [KafkaFault] {
        var faults: [KafkaFault] = []
        for _ in 0..<slices {
            commit(&driver)
            guard commit != nil else { return faults }
            switch consumer.poll(waiting: Self.sliceMilliseconds) {
            case .committed(let id, let fault):
                note(id, fault, &driver)
                if fault != nil { return faults }
            case .fault(let fault): faults.append(fault)
            default: continue
            }
        }
        return faults
    }

    /// Commits for the last time. The library gives up what it has read ahead, which would come before the answer.
    func commitLast(_ driver: inout RefreshDriver, slices: Int) {
        _ = consumer.pause(driver.pairs.filter { $0.line == line }.map(\.partition))
        commitAndWait(&driver, slices: slices)
    }

    /// Leaves the group; the client ends in the background.
    func close() {
        do throws(KafkaFault) { try consumer.close(limit: Self.closeMilliseconds) } catch { say(LogEvent(error)) }
    }
}
