internal import Kafka
internal import Pipeline

/// Something about the topics that a person should know before the worker runs.
package struct TopicFinding: Sendable, Equatable {
    package enum Severity: Sendable {
        /// The worker must not run.
        case problem
        case warning
    }

    package var severity: Severity
    /// One line: what is wrong and what to do.
    package var message: String
}

/// A topic as far as the check looks at it. `settings` is nil where they could not be read.
struct TopicFacts: Sendable, Equatable {
    var partitions: Int
    var settings: [String: String]?
}

/// Compares the six topics with what the worker needs.
package enum TopicCheck {
    /// Asks the broker and judges. Nothing is changed.
    ///
    /// - Parameter readsSettings: false for a broker that cannot tell its topics' settings (the embedded one).
    /// - Throws: a fault of the connection, saying what the last error was.
    package static func findings(
        properties: [(String, String)],
        topics: TopicNames,
        readsSettings: Bool = true,
        timeoutMilliseconds: Int = 10_000
    ) throws -> [TopicFinding] {
        let admin = try Admin(KafkaProperties(properties))
        var facts: [String: TopicFacts] = [:]
        for topic in try admin.topics(timeoutMilliseconds: timeoutMilliseconds) where topics.all.contains(topic.name) {
            facts[topic.name] = TopicFacts(partitions: topic.partitions, settings: nil)
        }
        guard readsSettings else { return judge(facts, topics) }
        var findings: [TopicFinding] = []
        for topic in [topics.requests, topics.outputs[.ledger]].compactMap({ $0 }) where facts[topic] != nil {
            do {
                let settings = try admin.settings(of: [topic], timeoutMilliseconds: timeoutMilliseconds)
                facts[topic]?.settings = settings[topic]
            } catch {
                guard !error.isRetriable else { throw error }
                findings.append(warning("\(error.message): give the worker DescribeConfigs, or check it by hand"))
            }
        }
        return judge(facts, topics) + findings
    }

    /// The judgement alone.
    static func judge(_ facts: [String: TopicFacts], _ topics: TopicNames) -> [TopicFinding] {
        var findings = duplicates(topics) + missing(facts, topics)
        findings += unequal(facts, topics)
        findings += settings(facts, topics)
        return findings
    }

    private static func duplicates(_ topics: TopicNames) -> [TopicFinding] {
        let names = topics.all
        return Set(names).sorted().filter { name in names.count { $0 == name } > 1 }.map {
            problem("topic \($0) is named for more than one purpose: give each of the six topics its own name")
        }
    }

    private static func missing(_ facts: [String: TopicFacts], _ topics: TopicNames) -> [TopicFinding] {
        let missing = topics.all.filter { (facts[$0]?.partitions ?? 0) < 1 }
        guard !missing.isEmpty else { return [] }
        let count = facts[topics.requests].map { String($0.partitions) } ?? "N"
        let names = missing.joined(separator: ", ")
        return [
            problem(
                "no such topic: \(names); create what is missing with "
                    + "attest-worker create-topics --config DIR --partitions \(count), or let the worker's user see it"
            )
        ]
    }

    private static func unequal(_ facts: [String: TopicFacts], _ topics: TopicNames) -> [TopicFinding] {
        let present = topics.all.compactMap { name in facts[name].map { (name, $0.partitions) } }
        guard Set(present.map(\.1)).count > 1 else { return [] }
        let list = present.map { "\($0.0) has \($0.1)" }.joined(separator: ", ")
        return [
            problem(
                "the topics' partition counts differ (\(list)): an output goes to its request's partition, so all six "
                    + "need the same number; make those anew that differ, with attest-worker create-topics"
            )
        ]
    }

    /// What is to be said of a topic whose partition count is no longer the one that the worker was started with; nil =
    /// nothing. A topic that is missing says nothing: a broker that has just started may not know it yet.
    static func changed(_ counts: [String: Int], _ topics: TopicNames, from started: Int32) -> String? {
        guard let topic = topics.all.first(where: { counts[$0].map { $0 != started } ?? false }) else { return nil }
        return "topic \(topic) has \(counts[topic] ?? 0) partitions, the worker was started with \(started): keys lie "
            + "on other partitions then; stop all workers, make all six topics equal, start again"
    }

    private static func settings(_ facts: [String: TopicFacts], _ topics: TopicNames) -> [TopicFinding] {
        var findings: [TopicFinding] = []
        if let ledger = topics.outputs[.ledger], let settings = facts[ledger]?.settings,
            let policy = settings["cleanup.policy"], policy != "compact"
        {
            findings.append(
                problem(
                    "topic \(ledger) has cleanup.policy=\(policy): it holds the counters and must never expire; set "
                        + "cleanup.policy=compact"
                )
            )
        }
        if let settings = facts[topics.requests]?.settings, let type = settings["message.timestamp.type"],
            type != "LogAppendTime"
        {
            findings.append(
                warning(
                    "topic \(topics.requests) has message.timestamp.type=\(type): whoever writes a request then chooses "
                        + "the time at which it is judged; set message.timestamp.type=LogAppendTime"
                )
            )
        }
        return findings
    }

    private static func problem(_ message: String) -> TopicFinding {
        TopicFinding(severity: .problem, message: message)
    }

    private static func warning(_ message: String) -> TopicFinding {
        TopicFinding(severity: .warning, message: message)
    }
}
