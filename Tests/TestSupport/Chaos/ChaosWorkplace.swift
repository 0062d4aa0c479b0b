package import DeviceLab
internal import Foundation
package import Kafka

/// A configuration made by the program itself, six topics, and a folder for all that a run writes.
package final class ChaosWorkplace {
    package let folder: String
    package let partitions: Int32
    /// Of the harness's own clients.
    package let properties: KafkaProperties
    package let ca: LabCA
    package var config: String { folder + "/config" }
    private let isKept: Bool

    package static let group = "chaos"
    package static let requests = "appattest.requests"
    package static let results = "appattest.results"
    package static let deadLetters = "appattest.dead-letters"
    private static let ledger = "appattest.ledger"
    package static let topics = [requests, results, "appattest.tokens", "appattest.events", deadLetters, ledger]

    /// - Parameter servers: a cluster without these topics.
    package init(_ settings: ChaosSettings, servers: String, folder: String) throws {
        (self.folder, partitions, isKept) = (folder, settings.partitions, settings.keep != nil)
        properties = KafkaProperties([
            ("bootstrap.servers", servers), ("group.id", Self.group), ("log_level", "0"),
            ("reconnect.backoff.max.ms", "1000"),
        ])
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let config = folder + "/config"
        let unused = folder + "/unused.ndjson"
        try WorkerBinary.done(
            ["simulate", "--config", config, "--new-config", "--devices", "1", "--records", "1", "--output", unused],
            in: folder
        )
        ca = try LabCA(exported: Self.bytes(of: config + "/lab-authority.json"))
        try configure(settings)
        try createTopics(settings)
    }

    deinit {
        if !isKept { try? FileManager.default.removeItem(atPath: folder) }
    }

    private func configure(_ settings: ChaosSettings) throws {
        let own =
            "\"delivery\": \"\(settings.delivery)\", \"membership\": \"\(settings.membership)\", "
            + settings.workerMembers
        let worker = String(decoding: try Self.bytes(of: config + "/worker.json"), as: UTF8.self)
            .replacingOccurrences(of: "\"anchors\"", with: own + "\"anchors\"")
        try Data(worker.utf8).write(to: URL(filePath: config + "/worker.json"))
        let lines = [
            ("bootstrap.servers", properties["bootstrap.servers"] ?? ""), ("group.id", Self.group),
            ("session.timeout.ms", String(settings.sessionMilliseconds)), ("heartbeat.interval.ms", "1000"),
            ("transaction.timeout.ms", String(settings.transactionMilliseconds)),
            ("reconnect.backoff.max.ms", "1000"), ("socket.nagle.disable", "true"),
        ]
        let text = lines.map { "\($0.0)=\($0.1)\n" }.joined()
        try Data(text.utf8).write(to: URL(filePath: config + "/kafka.properties"))
    }

    /// The ledger's segments are short, so that compaction takes part.
    private func createTopics(_ settings: ChaosSettings) throws {
        let topics = Self.topics.map { name in
            var own: [(name: String, value: String)] = []
            if name == Self.requests { own = [("message.timestamp.type", "LogAppendTime")] }
            if name == Self.ledger {
                own = [("cleanup.policy", "compact"), ("segment.ms", "2000"), ("min.cleanable.dirty.ratio", "0.01")]
            }
            return NewTopic(name: name, partitions: Int(partitions), settings: own)
        }
        let created = try Admin(properties).createTopics(topics)
        guard created.allSatisfy({ $0 == .created }) else {
            throw ClusterFault(description: "topics: \(created)")
        }
    }

    static func bytes(of path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }
}
