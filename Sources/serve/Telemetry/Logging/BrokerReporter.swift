internal import Kafka
internal import KafkaPorts

/// Connections to the brokers as the log and the pages of a program tell of them: all together, then each.
struct BrokerReporter {
    /// The pause between two polls of the statistics.
    private static let pollPause: Int64 = 1_000

    private var link: BrokerLink
    private var each = BrokerWatch()
    private var polled: Int64?
    private(set) var figures = BrokerFigures()
    /// Why there are no tokens for the brokers; nil = there are, or none are needed.
    private var tokens: String?

    /// - Parameter comfort: what happens while no broker is connected.
    init(comfort: String) { link = BrokerLink(comfort: comfort) }

    /// Why the program has to end: the brokers refuse what it read at its start.
    var lockout: String? { link.lockout }

    /// What lasts, a sentence each.
    var troubles: [String] {
        (link.isAway ? ["no broker is connected"] : each.away(of: figures.brokers)) + [tokens].compactMap(\.self)
    }

    /// - Parameters:
    ///   - fault: the last one of a connection.
    ///   - refusals: connections so far that were refused for what only a new client would change.
    ///   - tokens: why there are none.
    ///   - now: milliseconds of a clock that never goes back.
    mutating func poll(
        _ figures: BrokerFigures,
        _ fault: KafkaFault?,
        refusals: Int,
        tokens: String?,
        at now: Int64
    ) -> [LogEvent] {
        (self.figures, self.tokens) = (figures, tokens)
        let why = fault.map { ConnectionWords($0.message) }
        let refusal = fault.flatMap { $0.isRefusal ? $0 : nil }
        return link.poll(figures.brokers, reason: why?.reason, refusal: refusal, refusals: refusals, at: now)
            + each.poll(figures.brokers, why: why, at: now)
    }

    /// The same for a program with one client; at most once a second.
    mutating func poll(
        _ connections: (statistics: [UInt8], fault: KafkaFault?),
        tokens: String? = ClientLog.lastingFault,
        at now: Int64
    ) -> [LogEvent] {
        guard now - (polled ?? .min / 2) >= Self.pollPause else { return [] }
        polled = now
        let figures = BrokerFigures([connections.statistics], topic: "")
        return poll(figures, connections.fault, refusals: 0, tokens: tokens, at: now)
    }
}
