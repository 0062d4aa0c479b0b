internal import AppAttest
internal import Crypto
internal import Streams

/// A partition's ledger at one moment, as records: all but the mark, of which the topic has the newest.
///
/// It shares its tables with the ledger: what changes meanwhile is copied, a block at a time.
package struct LedgerCopy: Sendable {
    private let ledger: PartitionLedger
    /// The place of the newest mark, and its identity.
    package let from: Int64
    package let identity: [UInt8]

    init(_ ledger: PartitionLedger, from: Int64, identity: [UInt8]) {
        (self.ledger, self.from, self.identity) = (ledger, from, identity)
    }

    package var keys: Int { ledger.keys.count }

    package func forEach(_ body: (LedgerChange) throws -> Void) rethrows {
        try ledger.keys.forEach { id, record in try body(.key(id, record)) }
        try ledger.challenges.forEach { try body(.challenge($0, $1)) }
        try ledger.tokens.forEach { try body(.token($0, $1)) }
        for (app, rate) in ledger.rates { try body(.rate(app: app, rate)) }
        for (id, since) in ledger.sealingKeys { try body(.sealingKey(id, since: since)) }
        for (id, ban) in ledger.bans { try body(.ban(id, ban)) }
    }
}

/// A place where copies of ledgers outlive the process. Called on the loop's thread, and waits for nothing.
package protocol LedgerSnapshots: AnyObject, Sendable {
    /// Whether a copy may begin: one is written at a time.
    var isReady: Bool { get }
    /// The least time between two copies of a partition.
    var pauseMilliseconds: Int64 { get }
    /// Milliseconds since the copy of a partition was made that this process has read or written; nil = it has neither.
    func age(of partition: Int32) -> Int64?
    /// - Returns: whether it has begun.
    func write(_ copy: LedgerCopy, of partition: Int32) -> Bool
}
