internal import AppAttest
internal import AppCheck
internal import Kafka
internal import Settings
internal import Streams

/// The sizes that a worker's limits require of its topics, in bytes.
struct TopicNeeds: Sendable, Equatable {
    /// A dead letter carries a whole request, with headers that say where it was.
    static let letterOverhead = 4_096
    /// A control character of a text becomes `\u0001`.
    private static let escapedBytes = 6

    var letterBytes: Int
    /// The most of every other output: the headers that are copied, path, request id and what an object says of its
    /// device, and the members of fixed size.
    var outputBytes: Int
    /// The producer's batch size: the broker's limit applies to batches.
    var batchBytes: Int

    init(_ limits: RequestLimits = RequestLimits(), properties: [(String, String)] = []) {
        letterBytes = limits.valueBytes + limits.headerBytes + Self.letterOverhead
        let texts = RequestLimits.pathBytes + limits.requestIDBytes + ObjectLimits.default.attestationBytes
        outputBytes = limits.headerBytes + Self.escapedBytes * texts + Self.letterOverhead
        batchBytes = properties.last { $0.0 == "batch.size" }.flatMap { Int($0.1) } ?? 1_000_000
    }
}

/// The settings that topics are created with, and the findings about topics that are set otherwise.
enum TopicSettings {
    static let minute: Int64 = 60_000
    static let hour = 60 * minute
    static let day = 24 * hour

    /// Kafka's default for `max.message.bytes`.
    static let usualBytes = 1_048_588

    /// Why nobody can write to a topic; nil = it can be written to, or a number is not known.
    static func unwritable(_ settings: [String: String], replicas: Int?) -> String? {
        guard let inSync = settings["min.insync.replicas"].flatMap({ Int($0) }), let replicas, replicas > 0,
            inSync > replicas
        else { return nil }
        return "min.insync.replicas=\(inSync) and \(Counted.text(replicas, "replica")): nothing can be written"
    }

    /// - Parameter replication: nil = the broker's default, whose number is not known here.
    static func wanted(_ name: String, _ topics: TopicNames, replication: Int?) -> [(name: String, value: String)] {
        var settings: [(name: String, value: String)] = []
        if name == topics.outputs[.ledger] {
            settings = [
                ("cleanup.policy", "compact"), ("compression.type", "zstd"),
                // The newest segment is never compacted: small ones keep a restore close to the live records' size.
                ("segment.bytes", "67108864"), ("segment.ms", "\(6 * hour)"), ("min.cleanable.dirty.ratio", "0.1"),
                // Longer than a worker keeps a ledger of which it later reads only the tail.
                ("delete.retention.ms", "\(day)"),
                // The brokers' time of what a worker writes shows whether its own clock is ahead.
                ("message.timestamp.type", "LogAppendTime"),
            ]
        } else if name == topics.requests {
            settings = [("message.timestamp.type", "LogAppendTime"), ("retention.ms", "\(7 * day)")]
        } else if name == topics.outputs[.tokens] {
            // Tokens are secrets; retention deletes closed segments only.
            settings = [("retention.ms", "\(hour)"), ("segment.ms", "\(10 * minute)")]
        } else if name == topics.replies {
            // Secrets too, and whoever asked has given up after a minute.
            settings = [
                ("cleanup.policy", "delete"), ("retention.ms", "\(10 * minute)"), ("segment.ms", "\(10 * minute)"),
            ]
        } else if name == topics.outputs[.deadLetters] {
            settings = [("retention.ms", "\(7 * day)")]
        } else if name == topics.receipts {
            settings = [
                // A receipt's life. What was replaced or forgotten is gone within two days.
                ("cleanup.policy", "compact,delete"), ("retention.ms", "\(90 * day)"), ("compression.type", "zstd"),
                ("segment.ms", "\(6 * hour)"), ("min.cleanable.dirty.ratio", "0.1"),
                ("max.compaction.lag.ms", "\(12 * hour)"), ("delete.retention.ms", "\(day)"),
            ]
        }
        if let replication, replication >= 3 { settings.append(("min.insync.replicas", "2")) }
        return settings
    }

    /// Settings without which a topic is unusable: the ledger can do without the brokers' time.
    static func essential(of settings: [(name: String, value: String)]) -> [(name: String, value: String)] {
        let policy = settings.filter { $0.name == "cleanup.policy" }
        return policy.isEmpty ? settings.filter { $0.name == "message.timestamp.type" } : policy
    }
}

// MARK: - Judgement

extension TopicCheck {
    /// Settings that lose data are problems, the others warnings.
    static func judgeSettings(
        _ facts: [String: TopicFacts],
        _ topics: TopicNames,
        _ needs: TopicNeeds
    ) -> [TopicFinding] {
        Set(topics.all).sorted().flatMap { name -> [TopicFinding] in
            guard let fact = facts[name], let settings = fact.settings else { return [] }
            var topic = JudgedTopic(name: name, settings: settings)
            topic.judgeDurability(fact.replication)
            if name == topics.outputs[.ledger] {
                topic.judgeLedger()
            } else if name == topics.receipts {
                topic.judgeReceipts()
            } else {
                topic.judgeOther(topics)
            }
            if name != topics.requests { topic.judgeSizes(needs, isOfLetters: name == topics.outputs[.deadLetters]) }
            return topic.found
        }
    }
}

/// A topic's settings, and what is found in them.
private struct JudgedTopic {
    let name: String
    let settings: [String: String]
    var found: [TopicFinding] = []

    private func number(_ setting: String) -> Int64? { settings[setting].flatMap { Int64($0) } }

    private mutating func problem(_ text: String) { found.append(TopicCheck.problem("topic \(name) has \(text)")) }

    private mutating func risk(_ text: String) { found.append(TopicCheck.risk("topic \(name) has \(text)")) }

    private mutating func warn(_ text: String) { found.append(TopicCheck.warning("topic \(name) has \(text)")) }

    mutating func judgeDurability(_ replication: Int?) {
        if settings["unclean.leader.election.enable"] == "true" {
            risk(
                "unclean.leader.election.enable=true: a replica that lacks committed records may become the leader, and "
                    + "they are lost; set unclean.leader.election.enable=false"
            )
        }
        guard let inSync = number("min.insync.replicas"), let replication, replication > 0 else { return }
        if let fault = TopicSettings.unwritable(settings, replicas: replication) {
            problem("\(fault); set min.insync.replicas=\(max(1, replication - 1))")
        } else if replication >= 3, inSync < 2 {
            warn(
                "min.insync.replicas=\(inSync): a record on one broker alone counts as written; "
                    + "set min.insync.replicas=2"
            )
        }
    }

    mutating func judgeLedger() {
        if let policy = settings["cleanup.policy"], policy != "compact" {
            problem(
                "cleanup.policy=\(policy): it holds the counters and must never expire; set cleanup.policy=compact"
            )
        }
        if let kept = number("delete.retention.ms"), kept < TopicSettings.day {
            let text =
                "delete.retention.ms=\(kept): a returning worker may miss removals made in the meantime; set "
                + "delete.retention.ms=\(TopicSettings.day)"
            // Too close to the time for which a worker keeps the ledger of a partition that it gave away.
            if kept < TopicSettings.hour { risk(text) } else { warn(text) }
        }
        if let bytes = number("segment.bytes"), let time = number("segment.ms"), bytes > 256 << 20,
            time > TopicSettings.day
        {
            warn(
                "segment.bytes=\(bytes) and segment.ms=\(time): every restore reads what is not compacted yet; set "
                    + "segment.bytes=67108864 and segment.ms=\(6 * TopicSettings.hour)"
            )
        }
        if let ratio = settings["min.cleanable.dirty.ratio"].flatMap({ Double($0) }), ratio > 0.5 {
            warn(
                "min.cleanable.dirty.ratio=\(ratio): it is compacted too rarely; set min.cleanable.dirty.ratio=0.1"
            )
        }
    }

    mutating func judgeReceipts() {
        if let policy = settings["cleanup.policy"], Set(policy.split(separator: ",")) != ["compact", "delete"] {
            risk(
                "cleanup.policy=\(policy): replaced and forgotten receipts must go, and the others when they expire; set "
                    + "cleanup.policy=compact,delete"
            )
        }
        if let kept = number("retention.ms"), (0..<30 * TopicSettings.day).contains(kept) {
            warn(
                "retention.ms=\(kept): receipts are gone before Apple's 30 days are over; set "
                    + "retention.ms=\(90 * TopicSettings.day)"
            )
        }
        if let lag = number("max.compaction.lag.ms"), lag > 7 * TopicSettings.day {
            warn(
                "max.compaction.lag.ms=\(lag): a forgotten key's receipt stays until the broker happens to compact; set "
                    + "max.compaction.lag.ms=\(12 * TopicSettings.hour)"
            )
        }
    }

    /// Judges a topic in which a record must not replace an earlier one of its key.
    mutating func judgeOther(_ topics: TopicNames) {
        if let policy = settings["cleanup.policy"], policy.split(separator: ",").contains("compact") {
            risk(
                "cleanup.policy=\(policy): only the last record of each key would be kept; set cleanup.policy=delete"
            )
        }
        guard let kept = number("retention.ms") else { return }
        let isRequests = name == topics.requests
        if name == topics.outputs[.tokens], kept < 0 || kept > TopicSettings.day {
            warn(
                "retention.ms=\(kept): it holds tokens and artifacts, which are not needed that long; set "
                    + "retention.ms=\(TopicSettings.hour) and segment.ms=\(10 * TopicSettings.minute)"
            )
        }
        if name == topics.replies, kept < 0 || kept > TopicSettings.hour {
            warn(
                "retention.ms=\(kept): it holds tokens and artifacts, which no gateway reads after a minute; set "
                    + "retention.ms=\(10 * TopicSettings.minute) and segment.ms=\(10 * TopicSettings.minute)"
            )
        }
        if isRequests || name == topics.outputs[.deadLetters], kept < 0 || kept > 31 * TopicSettings.day {
            warn(
                "retention.ms=\(kept): it holds artifacts and challenges; set retention.ms=\(7 * TopicSettings.day)"
            )
        }
        if isRequests, (0..<TopicSettings.day).contains(kept) {
            risk(
                "retention.ms=\(kept): requests that wait longer for a worker are lost; set "
                    + "retention.ms=\(7 * TopicSettings.day)"
            )
        }
    }

    mutating func judgeSizes(_ needs: TopicNeeds, isOfLetters: Bool) {
        guard let most = number("max.message.bytes") else { return }
        if isOfLetters, most < needs.letterBytes {
            risk(
                "max.message.bytes=\(most), but a dead letter may have \(needs.letterBytes): it would be written without "
                    + "its request; raise max.message.bytes, or lower the limits of worker.json"
            )
        } else if !isOfLetters, most < needs.outputBytes {
            risk(
                "max.message.bytes=\(most), but a record of it may have \(needs.outputBytes): the worker would wait at "
                    + "such a request; set max.message.bytes=\(TopicSettings.usualBytes)"
            )
        } else if most < needs.batchBytes {
            warn(
                "max.message.bytes=\(most), below this client's batch.size=\(needs.batchBytes): batches are refused and "
                    + "retried as smaller ones; set batch.size=\(most) in kafka.properties"
            )
        }
    }
}

// MARK: - The broker

/// Settings of the brokers that a worker depends on.
enum BrokerCheck {
    /// - Parameter settings: a broker's, as far as it reported them.
    static func judge(_ settings: [String: String], transactionTimeout: Int64?) -> [TopicFinding] {
        var found: [TopicFinding] = []
        if settings["transaction.partition.verification.enable"] == "false" {
            found.append(
                TopicCheck.warning(
                    "the broker has transaction.partition.verification.enable=false: it accepts late offsets of a "
                        + "completed transaction, and requests may be answered twice; set it to true"
                )
            )
        }
        let timeout = transactionTimeout ?? Int64(TransactionClient.defaultTimeoutMilliseconds)
        if let most = settings["transaction.max.timeout.ms"].flatMap({ Int64($0) }), timeout > most {
            found.append(
                TopicCheck.problem(
                    "transaction.timeout.ms=\(timeout) is above the broker's transaction.max.timeout.ms=\(most): no "
                        + "transaction can begin; lower it in kafka.properties"
                )
            )
        }
        return found
    }
}
