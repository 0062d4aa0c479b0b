internal import Kafka
internal import KafkaPorts
internal import Settings

/// Notices when the connection to all brokers is gone, why it does not come back, and when it is back.
struct BrokerLink {
    /// How long the brokers may refuse a password or a certificate before the worker ends, in milliseconds.
    static let refusalLimit: Int64 = 15_000

    private(set) var isAway = false
    /// The time since which it has lasted, in milliseconds.
    private var since: Int64 = 0
    /// The refusal that was logged last.
    private var refusal: String?
    /// The time since which a new client might be let in where this one is refused.
    private var outdatedSince: Int64?
    /// Refusals that were known then.
    private var earlierRefusals = 0
    /// Set once that lasts: a start reads passwords again, and nothing else does.
    private(set) var lockout: String?
    /// What happens meanwhile.
    private let comfort: String

    init(comfort: String) { self.comfort = comfort }

    /// - Parameters:
    ///   - brokers: by name; none is connected = all are away.
    ///   - reason: the last fault that a client reported.
    ///   - refusal: the last fault of a connection, if it refused this worker or a broker.
    ///   - refusals: connections so far that were refused for what only a new client would change.
    ///   - now: milliseconds of a clock that never goes back.
    mutating func poll(
        _ brokers: [String: BrokerFigures.Broker],
        reason: String?,
        refusal: KafkaFault? = nil,
        refusals: Int = 0,
        at now: Int64
    ) -> [LogEvent] {
        guard !brokers.isEmpty, !brokers.values.contains(where: \.isUp) else { return back(brokers, at: now) }
        var events: [LogEvent] = []
        if !self.isAway {
            (self.isAway, since) = (true, now)
            let names = brokers.keys.sorted().joined(separator: ", ")
            let why = reason.map { ": \($0)" } ?? ""
            events.append(LogEvent(.error, .brokerLost, "no broker is connected (\(names))\(why); \(comfort)"))
            self.refusal = refusal?.message
        }
        note(refusal, refusals, at: now)
        if let message = refusal?.message, message != self.refusal {
            self.refusal = message
            events.append(LogEvent(.error, .brokerLost, "no broker can be connected: \(message); \(comfort)"))
        }
        return events
    }

    private mutating func note(_ refusal: KafkaFault?, _ refusals: Int, at now: Int64) {
        guard let refusal, refusal.mayNeedNewClient else { return outdatedSince = nil }
        if outdatedSince == nil { earlierRefusals = refusals }
        let begin = outdatedSince ?? now
        outdatedSince = begin
        // The refusal may be an old one, and the brokers gone since: then there are no new ones.
        guard now - begin >= Self.refusalLimit, refusals > earlierRefusals else { return }
        lockout =
            "no broker can be connected: \(refusal.message); passwords are read at the start only, and no certificate was "
            + "renewed, so this worker ends to be started again, and nothing is lost"
    }

    private mutating func back(_ brokers: [String: BrokerFigures.Broker], at now: Int64) -> [LogEvent] {
        guard isAway else { return [] }
        (isAway, refusal, outdatedSince) = (false, nil, nil)
        let seconds = Int(max(0, now - since + 500) / 1000)
        let count = LogEvent.Count("seconds", seconds)
        let names = brokers.filter(\.value.isUp).map { $0.value.named($0.key) }.sorted().joined(separator: " and ")
        let who = names.isEmpty ? "a broker" : names
        return [LogEvent(.info, .brokerBack, "\(who) is back, after \(seconds) s", counts: [count])]
    }
}

/// librdkafka's message of a connection that failed, such as `b1:9092/1: Connect to ipv4#10.0.0.1:9092 failed: Connection
/// refused (after 0ms in state CONNECT, 2 identical error(s) suppressed)`, in two parts.
package struct ConnectionWords {
    /// Such as `b1:9092`; nil = the message names none.
    package let broker: String?
    /// Such as `Connection refused`.
    package let reason: String

    /// One line for who waits.
    package var waiting: String { "waiting for the broker\(broker.map { " \($0)" } ?? ""): \(reason)" }

    package init(_ message: String) {
        var text = message[...]
        if text.hasSuffix(")"), let note = text.firstRange(of: " (after ") { text = text[..<note.lowerBound] }
        var broker: String?
        // A coordinator's name may come before its address.
        while let colon = text.firstRange(of: ": "), case let name = text[..<colon.lowerBound],
            name.hasSuffix("Coordinator") || name.contains(":"), !name.contains(" ")
        {
            broker = String(name[..<(name.lastIndex(of: "/") ?? name.endIndex)])
            text = text[colon.upperBound...]
        }
        if text.hasPrefix("Connect to "), let end = text.firstRange(of: " failed: ") { text = text[end.upperBound...] }
        self.broker = broker
        reason = String(text)
    }
}
