/// Where the ledgers of assigned partitions are read back.
///
/// Called as ``RequestSource`` is.
package protocol LedgerSource: AnyObject {
    /// Starts reading the ledger of newly assigned partitions, up to their ends at this moment.
    ///
    /// - Parameter kept: partitions whose ledger the caller still has as of its last commit (or restore) here: only
    ///   records written after that are read.
    func beginRestore(_ partitions: [Int32], kept: Set<Int32>) throws
    /// Reads on, at most `records` of them; waits at most `waitMilliseconds` for the first one. Partitions that have
    /// started are polled meanwhile.
    func restore(_ records: Int, waitMilliseconds: Int) throws -> RestoreRound
}
