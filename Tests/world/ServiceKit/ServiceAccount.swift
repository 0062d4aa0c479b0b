internal import Broker
internal import HTTP
internal import Settings
internal import Streams
internal import Telemetry

/// What a world has observed, and its complaints.
final class ServiceAccount {
    private(set) var complaints: [String] = []
    /// The story of the seed; nil = none is recorded.
    var story: [String]?
    /// When a process last logged a fault.
    var lastFaultLine: Int64 = -1
    /// When a worker last reported a fault of Kafka's or another assignment.
    var lastGroupLine: Int64 = -1
    /// Signing keys that sign before every key set has them, and those that are revoked.
    var early: Set<String> = []
    /// Signing keys that are revoked, and since when.
    var revoked: [String: Int64] = [:]
    /// When a backend first met a signing key that its key set lacks, by `kid`; and when a gateway last logged one.
    var unknownSince: [String: Int64] = [:]
    var unknownKeyLine: Int64 = .min / 2
    var written: [InboundRecord] = []
    /// The record keys of devices' keys that an operator has banned or forgotten.
    var touched: Set<[UInt8]> = []
    /// Bans and their ends, by the places of their requests.
    var bans: [RecordPlace: Bool] = [:]
    /// The record keys of keys that are banned, as of the last check.
    var banned: Set<[UInt8]> = []
    /// How many requests with each challenge were accepted.
    var passed: [String: Int] = [:]
    /// When the ledger was last forgotten, and how many requests there were each time.
    private(set) var forgottenSince: Int64?, forgottenAt: Set<Int> = []
    /// Requests that nobody judges: a reset has moved the offsets past them.
    private(set) var unjudged: Set<RecordPlace> = []
    /// The idempotency keys of calls that used a token up, by its `jti`.
    var used: [String: Set<String>] = [:]
    /// Tokens that some call found used up, and those with a call whose retries all failed.
    var foundUsed: Set<String> = []
    var withoutOutcome: Set<String> = []

    /// Everything is forgotten: bans and used tokens, too.
    func noteReset(_ rows: [LedgerReset.Row], at now: Int64) {
        forgottenSince = now
        forgottenAt.insert(written.count)
        (used, foundUsed) = ([:], [])
        for row in rows {
            let places = min(row.offsets.committed ?? 0, row.target)..<row.target
            unjudged.formUnion(places.map { RecordPlace(partition: row.offsets.partition, offset: $0) })
        }
    }

    /// The service goes on with other topics.
    func moveOn() { (written, bans, unjudged, forgottenAt) = ([], [:], [], []) }

    func complain(_ sentence: String) {
        if complaints.count < 20, !complaints.contains(sentence) { complaints.append(sentence) }
    }

    /// How often each thing has happened.
    private(set) var met: [String: Int] = [:]
    func meet(_ thing: String, _ count: Int = 1) { met[thing, default: 0] += count }

    func noteAccepted() { meet("accepted") }

    func hear(_ event: LogEvent, at now: Int64) {
        if event.level > .info { lastFaultLine = now }
    }
}
