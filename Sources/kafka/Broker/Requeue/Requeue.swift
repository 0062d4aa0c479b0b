package import AppCheck
package import Kafka
package import KafkaPorts
internal import Pipeline
package import Settings
internal import Streams

/// `requeue`: dead letters back onto the requests topic, each once.
///
/// A transaction writes the requests and, as offsets of a separate group, which letters they were: after a crash the
/// same command goes on with the rest, and of two at a time the later one stops the earlier.
package final class Requeue {
    package struct Row: Equatable {
        package var letters = 0
        package var oldest = Int64.max
        package var newest = Int64.min
    }

    /// Brokers, group and time, as letters are requeued.
    package struct Ports {
        /// The dead letters' topic, and the number of its partitions.
        let topic: String
        let partitions: Int32
        let makeReader: () throws(KafkaFault) -> any RecordReading
        let makeProducer: () throws(KafkaFault) -> any TransactionProducer
        /// The group's offsets of the letters.
        let committed: () throws(KafkaFault) -> [CommittedOffset]
        let token: any MemberToken
        let time: WaitingTime

        package init(
            topic: String,
            partitions: Int32,
            makeReader: @escaping () throws(KafkaFault) -> any RecordReading,
            makeProducer: @escaping () throws(KafkaFault) -> any TransactionProducer,
            committed: @escaping () throws(KafkaFault) -> [CommittedOffset],
            token: any MemberToken,
            time: WaitingTime
        ) {
            (self.topic, self.partitions) = (topic, partitions)
            (self.makeReader, self.makeProducer) = (makeReader, makeProducer)
            (self.committed, self.token, self.time) = (committed, token, time)
        }
    }

    /// The requests topic that letters go back to.
    package struct Target {
        var topic: String
        var partitions: Int32
        /// nil = each letter's own partition.
        var partitioner: Partitioner?
        var requestIDBytes: Int

        package init(topic: String, partitions: Int32, partitioner: Partitioner? = nil, requestIDBytes: Int = 128) {
            (self.topic, self.partitions) = (topic, partitions)
            (self.partitioner, self.requestIDBytes) = (partitioner, requestIDBytes)
        }
    }

    private static let timeBudget = Duration.seconds(60)
    private static let transactionBytes = 4 << 20
    private static let timeoutMilliseconds = 10_000

    private let ports: Ports
    private let target: Target
    private let choice: DeadLetterChoice
    private let transactionRecords: Int
    private let ends: [Watermarks]
    /// nil = the plan alone is asked for.
    private var writer: CommandWriter?
    /// How many producers it had made when the group's offsets were last known to be ours.
    private var producers = 0
    private var handled: [Int32: HandledLetters]
    /// The group's offsets as this command read or wrote them last.
    private var committed: [CommittedOffset]
    /// The letters to be written, by their reasons.
    package private(set) var rows: [DeadLetterReason: Row] = [:]
    /// Selected letters whose value was left out.
    package private(set) var truncated: [DeadLetter] = []
    /// Letters that were requeued before.
    package private(set) var done = 0
    /// Records that no worker of this requests topic wrote.
    package private(set) var foreign = 0
    /// Whether the group has an offset: else nothing was requeued, or so long ago that the broker has forgotten it.
    package private(set) var hasHistory = false

    package var total: Int { rows.values.reduce(0) { $0 + $1.letters } }
    package var topic: String { ports.topic }
    package var requests: String { target.topic }

    /// Reads the letters up to their present end.
    ///
    /// - Parameters:
    ///   - id: the transactional id, and the group.
    ///   - transactionRecords: requests in a transaction. While one is open the workers read no further, so it must be
    ///     short.
    ///   - writes: false for the plan alone; then nothing is changed.
    package init(
        _ id: String,
        _ ports: Ports,
        to target: Target,
        _ choice: DeadLetterChoice,
        transactionRecords: Int = 500,
        writes: Bool
    ) throws {
        (self.ports, self.target, self.choice, self.transactionRecords) = (ports, target, choice, transactionRecords)
        if writes {
            let writer = CommandWriter(id, on: ports.time, makeProducer: ports.makeProducer)
            // Fences a command that is still at work, and ends its open transaction.
            try CommandFault.explaining("the requests cannot be written", by: Self.cause, writer.takeOver)
            self.writer = writer
        }
        producers = writer?.producers ?? 0
        ends = try CommandFault.explaining(Self.trouble) { try Self.scan(ports).ends() }
        committed = try Self.committed(ports)
        handled = [:]
        hasHistory = committed.contains { $0.offset != nil }
        for found in committed { handled[found.partition] = try Self.handled(found, ends[Int(found.partition)]) }
        try plan()
    }

    /// Takes topics and group from a configuration.
    package convenience init(_ configuration: Configuration, _ choice: DeadLetterChoice, writes: Bool) throws {
        let access = try LedgerAccess(configuration)
        let id = try access.groupID() + "-requeue"
        guard let letters = access.topics.outputs[.deadLetters] else { preconditionFailure("every output has a topic") }
        let admin = try CommandFault.explaining(Self.trouble) { try Admin(access.properties) }
        let counts = try CommandFault.explaining("cannot query the broker") { try PartitionCounts(admin) }
        let (partitions, own) = (try counts.count(of: access.topics.requests), try counts.count(of: letters))
        try access.requireMarks(toName: partitions)
        let target = Target(
            topic: access.topics.requests,
            partitions: partitions,
            partitioner: configuration.partitioner.partitioner,
            requestIDBytes: configuration.limits.requestIDBytes
        )
        let ports = try Self.ports(access, id, letters, own)
        try self.init(id, ports, to: target, choice, writes: writes)
    }

    private static func ports(
        _ access: LedgerAccess,
        _ id: String,
        _ letters: String,
        _ partitions: Int32
    ) throws -> Ports {
        var properties = access.properties
        // Other limits of time that the configuration sets must stay below this one.
        if properties["message.timeout.ms"] == nil, properties["delivery.timeout.ms"] == nil {
            properties["transaction.timeout.ms"] = String(timeoutMilliseconds)
        }
        // A letter goes back as the request that it was.
        let route = OutputRoute(topics: [.deadLetters: access.topics.requests], clock: { WaitingTime.ofMachine.moment })
        return Ports(
            topic: letters,
            partitions: partitions,
            makeReader: { () throws(KafkaFault) in try TopicReader(access.properties, topic: letters) },
            makeProducer: { [properties] () throws(KafkaFault) in
                try TransactionClient(properties, transactionalID: id, source: letters, route)
            },
            committed: { () throws(KafkaFault) in
                let all = Array(0..<partitions)
                return try Admin(access.properties).committedOffsets(ofGroup: id, topic: letters, partitions: all)
            },
            token: GroupMetadata(withoutMembersOf: id),
            time: .ofMachine
        )
    }

    private static func scan(_ ports: Ports) throws -> TopicScan {
        try TopicScan(try ports.makeReader(), partitions: ports.partitions, timeBudget: timeBudget, on: ports.time)
    }

    private static func committed(_ ports: Ports) throws -> [CommittedOffset] {
        try CommandFault.explaining("cannot read what was requeued") {
            try BrokerRetry.ask(on: ports.time, ports.committed)
        }
        .sorted { $0.partition < $1.partition }
    }

    private static let trouble = "the dead letters cannot be read"

    private static func handled(_ found: CommittedOffset, _ marks: Watermarks) throws -> HandledLetters {
        guard var handled = HandledLetters(next: found.offset ?? 0, metadata: found.metadata) else {
            throw CommandFault(
                "the requeue group's offset of partition \(found.partition) was set by another program: delete the "
                    + "group's offsets; every letter then counts as not requeued."
            )
        }
        handled.raise(to: marks.low)
        return handled
    }

    private static func cause(_ fault: KafkaFault) -> String {
        let cause = fault.isFenced ? "another requeue took over, or the broker gave up waiting" : fault.message
        return "\(cause); run it again; what was requeued is not repeated"
    }

    // MARK: Reading

    private func plan() throws {
        var (rows, truncated) = ([DeadLetterReason: Row](), [DeadLetter]())
        try read { _, letter in
            if letter.isTruncated { return truncated.append(letter) }
            var row = rows[letter.reason] ?? Row()
            row.letters += 1
            (row.oldest, row.newest) = (min(row.oldest, letter.timestamp), max(row.newest, letter.timestamp))
            rows[letter.reason] = row
        }
        (self.rows, self.truncated) = (rows, truncated)
    }

    /// Calls `body` with each selected letter that is not done, up to the limit, in the order of its partition.
    private func read(_ body: (_ previous: Int64?, DeadLetter) throws -> Void) throws {
        var (left, done, foreign) = (choice.limit ?? .max, 0, 0)
        var previous: [Int32: Int64] = [:]
        do {
            try CommandFault.explaining(Self.trouble) {
                try Self.scan(ports).read(upTo: ends) { record in
                    guard record.offset < ends[Int(record.partition)].high else { return }
                    // Another fleet may share the topic.
                    guard let letter = DeadLetter(record, requestIDBytes: target.requestIDBytes),
                        letter.topic == target.topic
                    else {
                        foreign += 1
                        return
                    }
                    defer { previous[record.partition] = record.offset }
                    if handled[record.partition]?.contains(record.offset) ?? false {
                        if !letter.isTruncated { done += 1 }
                        return
                    }
                    guard choice.includes(letter), left > 0 else { return }
                    if !letter.isTruncated { left -= 1 }
                    try body(previous[record.partition], letter)
                }
            }
        } catch let fault as TopicScan.Standstill {
            throw CommandFault(
                "the dead letters cannot be read to their end: no more records of partition \(fault.partition) arrived; "
                    + "a transaction may be open there, try again when it has timed out."
            )
        }
        (self.done, self.foreign) = (done, foreign)
    }

    // MARK: Writing

    /// Letters of the next transaction. It begins when all of them are read: while it is open no worker reads on.
    private struct Portion {
        var letters: [DeadLetter] = []
        var bytes = 0
        var ranges: [Int32: [Range<Int64>]] = [:]

        /// - Parameter previous: the letter before it. If that one is done, nothing lies between the two.
        mutating func add(_ letter: DeadLetter, after previous: Int64?, _ handled: HandledLetters?) {
            var start = letter.offset
            if let previous {
                let isDone = handled?.contains(previous) ?? false
                if isDone || ranges[letter.partition]?.last?.upperBound == previous + 1 { start = previous + 1 }
            } else {
                start = min(start, handled?.next ?? 0)
            }
            ranges[letter.partition, default: []].append(start..<letter.offset + 1)
            guard !letter.isTruncated else { return }
            letters.append(letter)
            bytes += (letter.key?.count ?? 0) + (letter.value?.count ?? 0)
        }
    }

    /// - Parameter progress: called with the number of letters that were requeued.
    /// - Returns: that number.
    package func perform(progress: (Int) -> Void) throws -> Int {
        var (written, portion) = (0, Portion())
        func finish() throws {
            try write(portion)
            written += portion.letters.count
            portion = Portion()
            progress(written)
        }
        try read { previous, letter in
            portion.add(letter, after: previous, handled[letter.partition])
            let isFull = portion.letters.count >= transactionRecords || portion.bytes >= Self.transactionBytes
            if isFull { try finish() }
        }
        if !portion.ranges.isEmpty { try finish() }
        return written
    }

    /// A new producer fences a `requeue` that started in the meantime. Without this check this command would write that
    /// one's letters a second time.
    private func checkAlone(_ writer: CommandWriter) throws {
        guard writer.producers != producers else { return }
        guard try Self.committed(ports) == committed else {
            throw CommandFault(
                "another requeue took over: run it again; what was requeued is not repeated."
            )
        }
    }

    private func request(_ letter: DeadLetter) -> OutboundRecord {
        // As gateways do; the letter lies on the partition of its request.
        let home = letter.key.flatMap { key in
            target.partitioner.map { $0.partition(of: key, count: target.partitions) }
        }
        return OutboundRecord(
            stream: .deadLetters,
            partition: home ?? letter.partition % target.partitions,
            sourceOffset: letter.offset,
            sourceTimestamp: letter.timestamp,
            key: letter.key,
            value: letter.value,
            otherHeaders: letter.headers
        )
    }

    private func write(_ portion: Portion) throws {
        guard let writer else { preconditionFailure("the plan alone was asked for") }
        var next: [Int32: HandledLetters] = [:]
        for (partition, ranges) in portion.ranges {
            var handled = self.handled[partition] ?? HandledLetters(next: 0)
            handled.insert(ranges)
            guard handled.fits else {
                throw CommandFault(
                    "the selected letters of partition \(partition) are too scattered to track: requeue them together "
                        + "with those between them, without --reason."
                )
            }
            next[partition] = handled
        }
        let all = handled.merging(next) { $1 }
        // Commit all partitions each time: else the offset of a quiet one would expire alone, and its letters come
        // again.
        let offsets = all.sorted { $0.key < $1.key }.map { partition, handled in
            PartitionOffset(partition: partition, offset: handled.next, metadata: handled.metadata)
        }
        try CommandFault.explaining("the letters were not requeued to the end", by: Self.cause) {
            try writer.write(portion.letters.map(request), offsets: offsets, ports.token) { try checkAlone(writer) }
        }
        (handled, producers) = (all, writer.producers)
        committed = offsets.map { CommittedOffset(partition: $0.partition, offset: $0.offset, metadata: $0.metadata) }
    }
}
