internal import KafkaPorts
internal import Member
package import Pipeline
internal import Settings

/// All that a scrape or a status page shows, as of one moment.
package struct WorkerSnapshot {
    struct SigningKey: Sendable {
        let kid: String
        let algorithm: String
        let state: String
        /// Milliseconds since 1970; nil where nothing tells it.
        let published: Int64?
        /// Whether it does not sign; nil for a key of this process.
        let isAway: Bool?
    }

    struct Anchor: Sendable {
        let list: String
        let subject: String
        /// 16 hexadecimal digits.
        let fingerprint: String
        /// Seconds since 1970.
        let expires: Int64
    }

    struct Signatures {
        let curve: String
        let engine: String
        let count: Int
    }

    struct Build: Sendable {
        var version = ""
        var librdkafka = ""
        var openSSL = ""
        var engine = ""
    }

    var state = WorkerState.starting
    /// The cause of a wait or a pause; nil = nothing more is to be said.
    var reason: String?
    /// What lasts and does not keep the worker from working, a sentence each.
    var troubles: [String] = []
    var build = Build()
    /// Configured app ids.
    var apps: [String] = []
    /// Names for people, by app id.
    var appNames: [(id: String, name: String)] = []
    var signingKeys: [SigningKey] = []
    var anchors: [Anchor] = []
    var isReloaded = true
    /// Milliseconds since 1970.
    var reloadedAt: Int64 = 0
    var tally = LoopTally()
    var loops: [LoopSnapshot] = []
    var members: [MemberSnapshot] = []
    var brokers = BrokerFigures()
    /// The ledgers that are followed for others, with the offsets left to read of each.
    var standby: [Int32: Int64] { members.reduce(into: [:]) { $0.merge($1.standby) { min($0, $1) } } }
    /// The copies of ledgers on the disk, by partition.
    var copies: [Int32: SnapshotReport] = [:]
    package var stages = StageMeter()
    var signatures: [Signatures] = []
    package var disagreements = (p256: 0, p384: 0)
    /// nil = not known yet.
    package var lanes: Int?
    var process = ProcessFigures()

    /// Counts the signatures that an engine has verified.
    package mutating func add(_ counts: (p256: Int, p384: Int), of engine: String) {
        signatures += [
            Signatures(curve: "P-256", engine: engine, count: counts.p256),
            Signatures(curve: "P-384", engine: engine, count: counts.p384),
        ]
    }

    var partitions: [LoopSnapshot.Partition] { loops.flatMap(\.partitions).sorted { $0.number < $1.number } }

    func committed(_ partition: Int32) -> Int64? { members.lazy.compactMap { $0.committed[partition] }.first }

    /// nil = the client does not know the end yet.
    func lag(_ partition: Int32) -> Int64? {
        brokers.ends[partition]?.lag(behind: members.lazy.compactMap { $0.positions[partition] }.first)
    }

    /// Up to where everything is answered.
    var positions: [Int32: Int64] { members.reduce(into: [:]) { $0.merge($1.positions) { first, _ in first } } }

    private static let mostNames = 5

    /// `12 partitions not read yet (0, 1, 2, 3, 4 and 7 more): nothing has come from them yet`.
    static func text(unread: [Int32]) -> String {
        let names = unread.sorted().prefix(mostNames).map(String.init).joined(separator: ", ")
        let more = unread.count > mostNames ? " and \((unread.count - mostNames).grouped) more" : ""
        let source = unread.count == 1 ? "it" : "them"
        return
            "\(unread.count.counted("partition")) not read yet (\(names)\(more)): nothing has come from \(source) yet"
    }
}

/// A worker's states, from its start to its end.
package enum WorkerState: String, Sendable, CaseIterable {
    // In the order in which one outweighs those behind it, where several loops differ.
    case stopping, starting
    case waitingForBroker = "waiting_for_broker"
    case restoring, paused, running
}
