package import AppCheck
internal import Kafka
internal import KafkaPorts
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

    private static let timeBudget = Duration.seconds(60)
    /// Requests in a transaction. While one is open the workers read no further, so it must be short.
    private static let transactionRecords = 500
    private static let transactionBytes = 4 << 20
    private static let timeoutMilliseconds = 10_000

    private let access: LedgerAccess
    private let choice: DeadLetterChoice
    private let partitioner: Partitioner?
    private let requestIDBytes: Int
    private let partitions: Int32
    private let letterPartitions: Int32
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
    package var topic: String { access.topics.outputs[.deadLetters] ?? "" }
    package var requests: String { access.topics.requests }

    /// The group whose offsets say what is done.
    package static func group(_ access: LedgerAccess) throws(ConfigurationFault) -> String {
        try access.groupID() + "-requeue"
    }

    /// Reads the letters up to their present end.
    ///
    /// - Parameter writes: false for the plan alone; then nothing is changed.
    package init(_ configuration: Configuration, _ choice: DeadLetterChoice, writes: Bool) throws {
        access = try LedgerAccess(configuration)
        self.choice = choice
        partitioner = configuration.partitioner.partitioner
        requestIDBytes = configuration.limits.requestIDBytes
        let (access, group) = (access, try Self.group(access))
        guard let letters = access.topics.outputs[.deadLetters] else { preconditionFailure("every output has a topic") }
        let admin = try CommandFault.explaining(Self.trouble) { try Admin(access.properties) }
        let counts = try CommandFault.explaining("cannot query the broker") { try PartitionCounts(admin) }
        partitions = try counts.count(of: access.topics.requests)
        let own = try counts.count(of: letters)
        try access.requireMarks(toName: partitions)
        if writes { writer = try Self.takeOver(access, letters) }
        producers = writer?.producers ?? 0
        letterPartitions = own
        let ends = try CommandFault.explaining(Self.trouble) {
            try TopicScan(access.properties, topic: letters, partitions: own, timeBudget: Self.timeBudget).ends()
        }
        self.ends = ends
        committed = try Self.committed(admin, group, letters, own)
        handled = [:]
        hasHistory = committed.contains { $0.offset != nil }
        for found in committed { handled[found.partition] = try Self.handled(found, ends[Int(found.partition)]) }
        try plan()
    }

    private static func committed(
        _ admin: Admin,
        _ group: String,
        _ letters: String,
        _ partitions: Int32
    ) throws -> [CommittedOffset] {
        try CommandFault.explaining("cannot read what was requeued") {
            try BrokerRetry.ask { () throws(KafkaFault) in
                try admin.committedOffsets(ofGroup: group, topic: letters, partitions: Array(0..<partitions))
            }
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

    /// Fences a command that is still at work, and ends its open transaction.
    private static func takeOver(_ access: LedgerAccess, _ letters: String) throws -> CommandWriter {
        let id = try group(access)
        var properties = access.properties
        // Other limits of time that the configuration sets must stay below this one.
        if properties["message.timeout.ms"] == nil, properties["delivery.timeout.ms"] == nil {
            properties["transaction.timeout.ms"] = String(timeoutMilliseconds)
        }
        // A letter goes back as the request that it was.
        let route = OutputRoute(topics: [.deadLetters: access.topics.requests], clock: { WaitingTime.ofMachine.moment })
        let writer = CommandWriter(id) { [properties] () throws(KafkaFault) in
            try LibraryTransactionProducer(properties, transactionalID: id, source: letters, route)
        }
        try CommandFault.explaining("the requests cannot be written", by: cause, writer.takeOver)
        return writer
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
                let scan = try TopicScan(
                    access.properties,
                    topic: topic,
                    partitions: letterPartitions,
                    timeBudget: Self.timeBudget
                )
                try scan.read(upTo: ends) { record in
                    guard record.offset < ends[Int(record.partition)].high else { return }
                    // Another fleet may share the topic.
                    guard let letter = DeadLetter(record, requestIDBytes: requestIDBytes),
                        letter.topic == access.topics.requests
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
        let token = LibraryToken(GroupMetadata(withoutMembersOf: try Self.group(access)))
        var (written, portion) = (0, Portion())
        try read { previous, letter in
            portion.add(letter, after: previous, handled[letter.partition])
            guard portion.letters.count >= Self.transactionRecords || portion.bytes >= Self.transactionBytes else {
                return
            }
            try write(portion, token)
            written += portion.letters.count
            portion = Portion()
            progress(written)
        }
        if !portion.ranges.isEmpty {
            try write(portion, token)
            written += portion.letters.count
            progress(written)
        }
        return written
    }

    /// A new producer fences a `requeue` that started in the meantime. Without this check this command would write that
    /// one's letters a second time.
    private func checkAlone(_ writer: CommandWriter) throws {
        guard writer.producers != producers else { return }
        let admin = try CommandFault.explaining(Self.trouble) { try Admin(access.properties) }
        guard try Self.committed(admin, Self.group(access), topic, letterPartitions) == committed else {
            throw CommandFault(
                "another requeue took over: run it again; what was requeued is not repeated."
            )
        }
    }

    private func request(_ letter: DeadLetter) -> OutboundRecord {
        // As gateways do; the letter lies on the partition of its request.
        let home = letter.key.flatMap { key in partitioner.map { $0.partition(of: key, count: partitions) } }
        return OutboundRecord(
            stream: .deadLetters,
            partition: home ?? letter.partition % partitions,
            sourceOffset: letter.offset,
            sourceTimestamp: letter.timestamp,
            key: letter.key,
            value: letter.value,
            otherHeaders: letter.headers
        )
    }

    private func write(_ portion: Portion, _ token: LibraryToken) throws {
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
            try writer.write(portion.letters.map(request), offsets: offsets, token) { try checkAlone(writer) }
        }
        (handled, producers) = (all, writer.producers)
        committed = offsets.map { CommittedOffset(partition: $0.partition, offset: $0.offset, metadata: $0.metadata) }
    }
}
