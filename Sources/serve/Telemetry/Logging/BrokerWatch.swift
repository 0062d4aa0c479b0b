internal import Settings

/// Notices when one broker of several is away, and when a broker that was away is back.
///
/// While all are away, and when the first of them is back, ``BrokerLink`` says so.
struct BrokerWatch {
    /// How long a connection may be down before its broker counts as away, in milliseconds: most come back at once.
    static let grace: Int64 = 3_000

    private struct Absence {
        /// The start in milliseconds.
        let since: Int64
        var isReported = false
    }

    private var absences: [String: Absence] = [:]
    /// Attempts to connect, when the broker was last connected. One that nobody needs is not tried.
    private var attempts: [String: Int64] = [:]
    private var areAllAway = false

    /// - Parameters:
    ///   - brokers: by name.
    ///   - why: the last fault of a connection.
    ///   - now: milliseconds of a clock that never goes back.
    mutating func poll(_ brokers: [String: BrokerFigures.Broker], why: ConnectionWords?, at now: Int64) -> [LogEvent] {
        let wereAllAway = areAllAway
        areAllAway = !brokers.values.contains(where: \.isUp)
        return brokers.sorted { $0.key < $1.key }.compactMap { name, broker in
            guard !broker.isUp else {
                let event = back(name, broker, at: now)
                return wereAllAway ? nil : event
            }
            // A client that replaces another one begins to count at 0.
            attempts[name] = min(attempts[name] ?? 0, broker.attempts)
            guard broker.attempts > attempts[name] ?? 0 else { return nil }
            let absence = absences[name] ?? Absence(since: now)
            absences[name] = absence
            // Reported with the others.
            if areAllAway { absences[name]?.isReported = true }
            guard !absence.isReported, !areAllAway, now - absence.since >= Self.grace else { return nil }
            absences[name]?.isReported = true
            let reason = why.flatMap { $0.broker == name ? ": \($0.reason)" : nil } ?? ""
            return LogEvent(
                .warning,
                .brokerLost,
                "\(broker.named(name)) is away for \((now - absence.since) / 1000) s\(reason); its partitions wait for it or for "
                    + "another leader; other partitions continue, and no data is lost"
            )
        }
    }

    /// A sentence for each broker that was reported away.
    func away(of brokers: [String: BrokerFigures.Broker]) -> [String] {
        absences.filter(\.value.isReported).keys.sorted().map { "\(brokers[$0]?.named($0) ?? $0) is away" }
    }

    private mutating func back(_ name: String, _ broker: BrokerFigures.Broker, at now: Int64) -> LogEvent? {
        attempts[name] = broker.attempts
        guard let absence = absences.removeValue(forKey: name), absence.isReported else { return nil }
        let seconds = Int(max(0, now - absence.since + 500) / 1000)
        let count = LogEvent.Count("seconds", seconds)
        return LogEvent(.info, .brokerBack, "\(broker.named(name)) is back, after \(seconds) s", counts: [count])
    }
}
