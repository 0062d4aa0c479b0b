internal import AppAttest
internal import AppCheck
internal import Broker
internal import CommandFrame
internal import Crypto
internal import JSON
internal import Kafka
internal import KafkaPorts
internal import Pipeline
internal import Settings
internal import Streams

/// Writes an operator's command to the requests topic, where it is applied in order with the requests around it: by the
/// running worker with its next batch, or by the one that comes.
struct OperatorAction {
    private static let deliveryMilliseconds = 30_000

    private let configuration: Configuration
    private let key: OperatorKey
    private let command: OperatorCommand
    private let subject: String
    private let isAwaited: Bool

    /// - Parameter keepsBan: of `forget`.
    init(_ verb: OperatorCommand.Action, _ arguments: Arguments, keepsBan: Bool = false) throws {
        configuration = try Configuration.load(directory: try arguments.required("--config"))
        guard let (subject, name) = try OperatorSubject.of(arguments) else {
            throw UsageFault("name one: --key-id KEYID or --installation ID.")
        }
        (self.subject, isAwaited) = (name, arguments.has("--wait"))
        let now = WallClock.milliseconds()
        let until = try arguments.end("--until", now: now)
        if let until, until <= now {
            throw UsageFault("--until must lie ahead: \(TimeText.rfc3339(until)) is over.")
        }
        guard let key = try ExchangeKeys.operatorKeys(configuration).active else {
            throw ConfigurationFault(
                "worker.json lists no sealing key, and no challenge key in its place: the workers know an operator's "
                    + "command by one. Make a sealing key with \(AttestWorker.name) new-keys, and list it for them too."
            )
        }
        self.key = key
        var command = Self.fresh(verb, subject)
        (command.keepsBan, command.until) = (keepsBan, until.map { EvaluationTime(milliseconds: $0) })
        self.command = command
    }

    private static func fresh(_ verb: OperatorCommand.Action, _ subject: OperatorCommand.Subject) -> OperatorCommand {
        let nonce = SecureRandom.bytes(OperatorCommand.nonceBytes)
        return OperatorCommand(verb, subject, issuedAt: WallClock.now(), nonce: nonce)
    }

    /// Returns when all replicas have the command; where it is waited for, when it has its results.
    ///
    /// - Returns: the exit code.
    func write(_ console: Console) throws -> Int32 {
        let topic = configuration.topics.requests
        let access = try LedgerAccess(configuration)
        let count = try access.partitionCount()
        try access.requireMarks(toName: count)
        let commands = placed(count)
        // Before the commands: no result of theirs comes earlier.
        let wait =
            try isAwaited
            ? OperatorWait(configuration, commands.map { ($0.partition, Self.requestID($0.command)) }) : nil
        let properties = access.properties.pairs.map { ($0.name, $0.value) }
        var (rest, options) = (commands[...], CapturePublisher.Options())
        (options.keepsPartitions, options.deliveryMilliseconds) = (true, Self.deliveryMilliseconds)
        let report = try CommandFault.explaining("cannot write to \(topic)", by: \.description) {
            try CapturePublisher(properties: properties, topic: topic, options: options)
                .publish { rest.popFirst().map { record($0.command, on: $0.partition) } }
        }
        guard report.isComplete else {
            throw CommandFault(
                "\(report.acknowledged) of \(commands.count.counted("partition")) have the command: "
                    + "\(report.firstFailure ?? "no reason was given"). Run it again."
            )
        }
        let places = commands.count == 1 ? "partition \(commands[0].partition)" : commands.count.counted("partition")
        console.print("\(command.action.rawValue) of \(subject) written to \(topic), \(places)")
        // Where results are waited for, each has its line.
        for (command, partition) in commands where wait == nil {
            console.print("partition \(partition): the result's request-id is \(Self.requestID(command))")
        }
        return try wait?.finish(console) ?? ExitCode.done
    }

    /// One command for the partition of the key; one for each partition where an installation's requests may be, or
    /// where a key's are unknown.
    private func placed(_ count: Int32) -> [(command: OperatorCommand, partition: Int32)] {
        if let required = command.requiredRecordKey, let partitioner = configuration.partitioner.partitioner {
            return [(command, partitioner.partition(of: required, count: count))]
        }
        return (0..<count).map { partition in
            var own = Self.fresh(command.action, command.subject)
            (own.keepsBan, own.until, own.partition) = (command.keepsBan, command.until, partition)
            return (own, partition)
        }
    }

    private func record(_ command: OperatorCommand, on partition: Int32) -> PublishRecord {
        PublishRecord(
            key: command.requiredRecordKey,
            value: OperatorRequest.value(command, key),
            headers: [RecordHeader("request-id", Self.requestID(command))],
            partition: partition
        )
    }

    private static func requestID(_ command: OperatorCommand) -> String {
        "operator-" + Hexadecimal.encode(command.nonce)
    }
}
