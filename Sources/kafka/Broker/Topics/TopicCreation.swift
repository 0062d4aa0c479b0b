internal import AppAttest
internal import Glibc
internal import Kafka
internal import KafkaPorts
internal import Pipeline
package import Settings

/// The outcome of `create-topics`: a line per topic, and whether all now match the request.
package struct TopicReport: Sendable, Equatable {
    package var lines: [String] = []
    /// The topics and settings that the broker refused.
    package var complaints: [String] = []
    package var allMatch = true
}

/// Creates the topics. Existing ones are compared and never changed.
package enum TopicCreator {
    /// - Parameters:
    ///   - partitions: the same for all but the replies.
    ///   - replyPartitions: of the replies, if the topics have them.
    ///   - replication: nil for the broker's default, which is then not compared either.
    package static func createTopics(
        properties: [(String, String)],
        topics: TopicNames,
        partitions: Int,
        replyPartitions: Int = standardReplyPartitions,
        replication: Int?,
        timeoutMilliseconds: Int = 30_000
    ) throws -> TopicReport {
        let admin = try Admin(KafkaProperties(properties))
        let wanted = plan(topics, partitions: partitions, replyPartitions: replyPartitions, replication: replication)
        // Asked first: this finds out that a broker is down long before a creation gives up.
        let present = try admin.topics(timeoutMilliseconds: min(timeoutMilliseconds, firstMilliseconds)).map(\.name)
        let broker = try TopicCheck.brokerSettings(admin, timeoutMilliseconds)
        if let refusal = refusal(wanted.filter { !present.contains($0.name) }, broker) { throw CommandFault(refusal) }
        let outcomes = try admin.createTopics(wanted, timeoutMilliseconds: timeoutMilliseconds)
        let existing = zip(wanted, outcomes).filter { $0.1 == .exists }.map { $0.0.name }
        let created = zip(wanted, outcomes).filter { $0.1 == .created }.map { $0.0.name }
        let descriptions = try visible(created, admin, timeoutMilliseconds)
        var settings = try admin.settings(of: existing, timeoutMilliseconds: timeoutMilliseconds)
        // Without the right to read them nothing is known of new ones, as of the broker's own settings.
        if let new = try? admin.settings(of: created, timeoutMilliseconds: timeoutMilliseconds) {
            settings.merge(new) { $1 }
        }
        var report = TopicReport()
        for (topic, outcome) in zip(wanted, outcomes) {
            let description = descriptions.first { $0.name == topic.name }
            report.add(topic, outcome, description, settings[topic.name] ?? [:])
        }
        return report
    }

    private static let firstMilliseconds = 10_000

    /// Why topics that do not exist yet are not created; nil = nothing speaks against it.
    ///
    /// - Parameter broker: a broker's settings, as far as it reported them.
    static func refusal(_ missing: [NewTopic], _ broker: [String: String]) -> String? {
        let bare = missing.first { topic in !topic.settings.contains { $0.name == "min.insync.replicas" } }
        guard let bare, let fault = TopicSettings.unwritable(broker, replicas: bare.replication) else { return nil }
        return "topic \(bare.name) would have the brokers' \(fault); nothing was created: \(TopicReport.wayOut)"
    }

    /// The topics, once new ones have reached the broker that is asked; a broker learns of them after a while.
    private static func visible(
        _ created: [String],
        _ admin: Admin,
        _ timeoutMilliseconds: Int
    ) throws -> [TopicDescription] {
        let deadline = ContinuousClock.now + .milliseconds(timeoutMilliseconds)
        while true {
            let topics = try admin.topics(timeoutMilliseconds: timeoutMilliseconds)
            let names = Set(topics.lazy.filter { $0.partitions > 0 }.map(\.name))
            if created.allSatisfy(names.contains) || ContinuousClock.now >= deadline { return topics }
            usleep(100_000)
        }
    }

    /// One for each gateway; more may be added later.
    package static let standardReplyPartitions = 8

    static func plan(
        _ topics: TopicNames,
        partitions: Int,
        replyPartitions: Int = standardReplyPartitions,
        replication: Int?
    ) -> [NewTopic] {
        topics.all.map { name in
            NewTopic(
                name: name,
                partitions: name == topics.replies ? replyPartitions : partitions,
                replication: replication,
                settings: TopicSettings.wanted(name, topics, replication: replication)
            )
        }
    }
}

extension TopicReport {
    static let wayOut = "pass a higher --replication, or lower min.insync.replicas"

    mutating func add(
        _ wanted: NewTopic,
        _ outcome: TopicCreation,
        _ found: TopicDescription?,
        _ settings: [String: String]
    ) {
        switch outcome {
        case .created:
            lines.append("created \(wanted.name), \(Counted.text(Int(wanted.partitions), "partition"))")
            guard let fault = TopicSettings.unwritable(settings, replicas: found?.replication) else { return }
            allMatch = false
            complaints.append("topic \(wanted.name) has \(fault); delete it and then \(Self.wayOut)")
        case .failed(let fault):
            allMatch = false
            complaints.append(fault.message)
        case .exists:
            let differences = Self.differences(wanted, found, settings)
            allMatch = allMatch && differences.isEmpty
            let verdict = differences.isEmpty ? "as requested" : differences.joined(separator: ", ")
            lines.append("exists \(wanted.name), \(verdict)")
        }
    }

    private static func differences(
        _ wanted: NewTopic,
        _ found: TopicDescription?,
        _ settings: [String: String]
    ) -> [String] {
        guard let found else { return ["but cannot be described: the Describe right is missing"] }
        var differences: [String] = []
        if found.partitions != wanted.partitions {
            differences.append("but with \(Counted.text(Int(found.partitions), "partition")), not \(wanted.partitions)")
        }
        if let replication = wanted.replication, found.replication != replication {
            differences.append("but with replication \(found.replication), not \(replication)")
        }
        if let fault = TopicSettings.unwritable(settings, replicas: found.replication) {
            differences.append("but with \(fault)")
        }
        // An operator may choose the other settings; run --check reports the dangerous ones.
        for (name, value) in TopicSettings.essential(of: wanted.settings) where settings[name] != value {
            differences.append("but with \(name)=\(settings[name] ?? "unknown"), not \(value)")
        }
        return differences
    }
}
