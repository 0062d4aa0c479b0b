package import DeviceLab
internal import Foundation
package import Kafka
internal import TestKit

/// A configuration made by the program itself, six topics, and a folder for all that a run writes.
package final class ProgramWorkplace {
    /// Who makes the topics.
    package enum TopicMaker: Sendable {
        /// This object: the ledger's segments are short, so that compaction takes part.
        case workplace
        /// The program, as it does for its users.
        case program
        case nobody
    }

    package struct Options: Sendable {
        /// Of the topics' names; the group's name too.
        package var prefix = "appattest"
        package var partitions: Int32 = 6
        package var delivery = "exactly-once"
        package var membership = "static"
        /// More members of worker.json, each followed by a comma.
        package var members = ""
        /// More of its topics, likewise: `"replies": "appattest.replies", `.
        package var topicMembers = ""
        /// More of kafka.properties, which counts before the rest of it.
        package var kafka: [(name: String, value: String)] = []
        package var topicMaker = TopicMaker.workplace
        /// Settings of topics that the workplace makes, by the end of their names.
        package var topics: [String: [(name: String, value: String)]] = [:]
        /// Where everything stays; nil = a temporary folder that goes with this object.
        package var keep: String?

        package init() {}
    }

    package let options: Options
    package let folder: String
    /// Of the harness's own clients.
    package let properties: KafkaProperties
    package let ca: LabCA
    package var config: String { folder + "/config" }
    package var partitions: Int32 { options.partitions }
    package var group: String { options.prefix }
    package var requests: String { topic("requests") }
    package static let streams = ["requests", "results", "tokens", "events", "dead-letters", "ledger"]

    package func topic(_ name: String) -> String { "\(options.prefix).\(name)" }

    /// - Parameter servers: a cluster without these topics, by the listener that asks for no name.
    package init(servers: String, _ options: Options = Options()) throws {
        self.options = options
        folder = options.keep ?? FileManager.default.temporaryDirectory.path + "/workplace-\(UUID().uuidString)"
        properties = KafkaProperties([
            ("bootstrap.servers", servers), ("group.id", options.prefix), ("log_level", "0"),
            ("reconnect.backoff.max.ms", "1000"),
        ])
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if options.keep == nil { try ProgramLeash.shared.hold(folder: folder) }
        let config = folder + "/config"
        let unused = folder + "/unused.ndjson"
        try WorkerBinary.done(
            ["simulate", "--config", config, "--new-config", "--devices", "1", "--records", "1", "--output", unused],
            in: folder
        )
        ca = try LabCA(exported: [UInt8](Data(contentsOf: URL(filePath: config + "/lab-authority.json"))))
        try configure()
        switch options.topicMaker {
        case .workplace: try createTopics()
        case .program: try done("create-topics", "--partitions", String(partitions))
        case .nobody: break
        }
    }

    /// On the suite's cluster, with three partitions.
    package convenience init(
        _ prefix: String,
        topics maker: TopicMaker = .program,
        adjust: (inout Options) -> Void = { _ in }
    ) throws {
        guard let cluster = RealClusterTrait.cluster else { throw ClusterFault(description: "no suite's cluster") }
        var options = Options()
        (options.prefix, options.partitions, options.topicMaker) = (prefix, 3, maker)
        adjust(&options)
        try self.init(servers: cluster.bootstrapServers, options)
    }

    deinit {
        if options.keep == nil { try? FileManager.default.removeItem(atPath: folder) }
    }

    private func configure() throws {
        let own = "\"delivery\": \"\(options.delivery)\", \"membership\": \"\(options.membership)\", \(options.members)"
        let topics = options.topicMembers + "\"requests\":"
        try rewrite("worker.json") {
            // Tests that need a gateway bring its member.
            $0.replacing(/,\s*"gateway": \{[^{}]*(\{[^{}]*\}[^{}]*)*\}/, with: "")
                .replacing("\"anchors\"", with: own + "\"anchors\"")
                .replacing("\"requests\":", with: topics)
                .replacing("\"appattest.", with: "\"\(options.prefix).")
        }
        var kafka = KafkaProperties([
            ("bootstrap.servers", properties["bootstrap.servers"] ?? ""), ("group.id", group),
            ("session.timeout.ms", "6000"), ("heartbeat.interval.ms", "1000"), ("transaction.timeout.ms", "10000"),
            ("reconnect.backoff.max.ms", "1000"), ("socket.nagle.disable", "true"),
        ])
        for (name, value) in options.kafka { kafka[name] = value }
        try rewrite("kafka.properties") { _ in kafka.pairs.map { "\($0.name)=\($0.value)\n" }.joined() }
    }

    /// Makes topics as a workplace has them, from names without the prefix.
    package func createTopics(_ names: [String] = streams, partitions: Int? = nil) throws {
        let topics = names.map { name in
            var own: [(name: String, value: String)] = []
            if name == "requests" { own = [("message.timestamp.type", "LogAppendTime")] }
            if name == "tokens" { own = [("retention.ms", "3600000"), ("segment.ms", "600000")] }
            if name == "ledger" {
                own = [
                    ("cleanup.policy", "compact"), ("segment.ms", "2000"), ("min.cleanable.dirty.ratio", "0.01"),
                    ("message.timestamp.type", "LogAppendTime"),
                ]
            }
            return NewTopic(
                name: topic(name),
                partitions: partitions ?? Int(self.partitions),
                settings: own + (options.topics[name] ?? [])
            )
        }
        let created = try Admin(properties).createTopics(topics)
        guard created.allSatisfy({ $0 == .created }) else { throw ClusterFault(description: "topics: \(created)") }
    }
}

extension ProgramWorkplace: FileFolder {
    package var path: String { folder }
}
