internal import Broker
internal import CommandFrame
internal import Kafka
internal import KafkaPorts
internal import Settings

extension Command {
    static let createTopics = Command(
        name: "create-topics",
        summary: "create the worker's topics on the broker",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--partitions", "N", "partitions of each topic", .required),
            .value("--reply-partitions", "R", "partitions of topics.replies, one for each gateway; 8 where absent"),
            .value("--replication", "R", "replicas of each partition; the broker's default where absent"),
        ],
        notes: """
            The ledger is compacted; requests carry the broker's own time (LogAppendTime). Topics that already exist are
            compared, never changed: exit code 1 if one differs.
            """
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        guard let partitions = try arguments.integer("--partitions", in: 1...100_000) else {
            throw UsageFault("--partitions is required.")
        }
        let replies = try arguments.integer("--reply-partitions", in: 1...100_000)
        guard replies == nil || configuration.topics.replies != nil else {
            throw UsageFault("--reply-partitions is for topics.replies, which worker.json does not set.")
        }
        let report = try CommandFault.explaining("the topics cannot be created", by: \.description) {
            try TopicCreator.createTopics(
                properties: try configuration.brokerProperties(),
                topics: configuration.topics,
                partitions: partitions,
                replyPartitions: replies ?? TopicCreator.standardReplyPartitions,
                replication: try arguments.integer("--replication", in: 1...1000)
            )
        }
        for line in report.lines { console.print(line) }
        for line in report.complaints { console.printError("\(AttestWorker.name): \(line)") }
        return report.allMatch ? ExitCode.done : ExitCode.failed
    }
}
