internal import AppAttest
package import AppCheck
internal import Kafka
internal import KafkaPorts
internal import Pipeline
package import Settings
internal import Streams

/// The facts about a topic that the check uses. `settings` is nil where they could not be read.
struct TopicFacts: Sendable, Equatable {
    var partitions: Int
    var settings: [String: String]?
    /// The smallest number of replicas among its partitions.
    var replication: Int?
}

/// Compares the topics with what the worker needs.
package enum TopicCheck {
    /// Asks the broker and judges the answers. Changes nothing.
    ///
    /// - Parameter readsSettings: false for a broker that cannot report its topics' settings (the embedded one).
    /// - Throws: a fault of the connection, with the last error.
    package static func findings(
        properties: [(String, String)],
        topics: TopicNames,
        readsSettings: Bool = true,
        limits: RequestLimits = RequestLimits(),
        timeoutMilliseconds: Int = 10_000
    ) throws -> [TopicFinding] {
        let admin = try Admin(KafkaProperties(properties))
        var facts: [String: TopicFacts] = [:]
        for topic in try admin.topics(timeoutMilliseconds: timeoutMilliseconds) where topics.all.contains(topic.name) {
            facts[topic.name] = TopicFacts(
                partitions: topic.partitions,
                settings: nil,
                replication: topic.replication
            )
        }
        guard readsSettings else { return judge(facts, topics) }
        var findings: [TopicFinding] = []
        for topic in Set(topics.all).sorted() where facts[topic] != nil {
            do {
                let settings = try admin.settings(of: [topic], timeoutMilliseconds: timeoutMilliseconds)
                facts[topic]?.settings = settings[topic]
            } catch {
                guard !error.isRetriable else { throw error }
                findings.append(warning("\(error.message): give the worker DescribeConfigs, or check it by hand"))
            }
        }
        let broker = try brokerSettings(admin, timeoutMilliseconds)
        let timeout = properties.last { $0.0 == "transaction.timeout.ms" }.flatMap { Int64($0.1) }
        return judge(facts, topics, TopicNeeds(limits, properties: properties)) + findings
            + BrokerCheck.judge(broker, transactionTimeout: timeout)
    }

    /// Empty without the right to read a broker's settings (a right on the cluster, which no worker needs).
    static func brokerSettings(_ admin: Admin, _ timeoutMilliseconds: Int) throws -> [String: String] {
        do {
            return try admin.brokerSettings(timeoutMilliseconds: timeoutMilliseconds)
        } catch {
            guard !error.isRetriable else { throw error }
            return [:]
        }
    }

    /// The judgement without the broker.
    static func judge(
        _ facts: [String: TopicFacts],
        _ topics: TopicNames,
        _ needs: TopicNeeds = TopicNeeds()
    ) -> [TopicFinding] {
        var findings = duplicates(topics) + missing(facts, topics)
        findings += unequal(facts, topics)
        findings += judgeSettings(facts, topics, needs)
        findings += writersTime(facts, topics)
        return findings
    }

    private static func duplicates(_ topics: TopicNames) -> [TopicFinding] {
        let names = topics.all
        return Set(names).sorted().filter { name in names.count { $0 == name } > 1 }.map {
            problem("topic \($0) is named for more than one purpose: give each topic its own name")
        }
    }

    private static func missing(_ facts: [String: TopicFacts], _ topics: TopicNames) -> [TopicFinding] {
        let missing = topics.all.filter { (facts[$0]?.partitions ?? 0) < 1 }
        guard !missing.isEmpty else { return [] }
        let count = facts[topics.requests].map { String($0.partitions) } ?? "N"
        let names = missing.joined(separator: ", ")
        let isLost = missing == [topics.outputs[.ledger]]
        return [
            TopicFinding(
                severity: .problem,
                message: "no such topic: \(names); create the missing ones with attest-worker create-topics "
                    + "--config DIR --partitions \(count), or let the worker's user see them"
                    + (isLost ? "; a new ledger knows no key: see Runbook, The ledger is lost" : ""),
                mayPass: true
            )
        ]
    }

    private static func unequal(_ facts: [String: TopicFacts], _ topics: TopicNames) -> [TopicFinding] {
        let present = topics.aligned.compactMap { name in facts[name].map { (name, $0.partitions) } }
        guard Set(present.map(\.1)).count > 1 else { return [] }
        let list = present.map { "\($0.0) has \($0.1)" }.joined(separator: ", ")
        return [
            problem(
                "the topics' partition counts differ (\(list)): an output goes to its request's partition, so "
                    + "\(topics.alignedText) need the same number, and keys do not move with added partitions: "
                    + KeyPlacement.remedy
            )
        ]
    }

    /// A line about a topic whose partition count differs from the one at the worker's start; nil = none. A missing
    /// topic gives no line: a broker that has just started may not know it yet.
    static func changed(_ counts: [String: Int], _ topics: TopicNames, from started: Int32) -> String? {
        guard let topic = topics.aligned.first(where: { counts[$0].map { $0 != started } ?? false }) else { return nil }
        let count = Counted.text(Int(counts[topic] ?? 0), "partition")
        return "topic \(topic) has \(count), but the worker was started with \(started): keys "
            + "now belong to other partitions, and do not move there: \(KeyPlacement.remedy)"
    }

    private static func writersTime(_ facts: [String: TopicFacts], _ topics: TopicNames) -> [TopicFinding] {
        let harms = [
            (topics.requests, "the producer of a request chooses the time at which it is judged"),
            (
                topics.outputs[.ledger] ?? "",
                "a worker whose clock is far ahead cannot tell it, and backends refuse its tokens"
            ),
        ]
        return harms.compactMap { name, harm in
            guard let type = facts[name]?.settings?["message.timestamp.type"], type != "LogAppendTime" else {
                return nil
            }
            return warning(
                "topic \(name) has message.timestamp.type=\(type): \(harm); set message.timestamp.type=LogAppendTime"
            )
        }
    }

    package static func problem(_ message: String) -> TopicFinding {
        TopicFinding(severity: .problem, message: message)
    }

    /// A problem that does not keep a worker from running.
    static func risk(_ message: String) -> TopicFinding {
        TopicFinding(severity: .problem, message: message, endsRun: false)
    }

    static func warning(_ message: String) -> TopicFinding {
        TopicFinding(severity: .warning, message: message)
    }
}

/// A finding about the topics that an operator should know before the worker runs.
package struct TopicFinding: Sendable, Equatable {
    package enum Severity: Sendable {
        /// The check fails.
        case problem
        case warning
    }

    package var severity: Severity
    /// One line: what is wrong and what to do.
    package var message: String
    /// Whether it keeps a worker from starting. What may lose data some day fails the check, but `run` only warns of
    /// it: an upgrade must not stop a fleet that has run with it.
    package var endsRun = true
    /// Whether a broker that just started, or has not heard of a new topic yet, gives the same answer.
    package var mayPass = false
}
