package import Streams

/// A process's copies of ledgers, which outlive it. What is read of one counts once the topic has proven it.
///
/// Called on the loop's thread.
package protocol LedgerFiles: AnyObject {
    /// - Returns: nil where there is no file of the partition, or none that may count.
    func open(_ partition: Int32) -> (any LedgerFile)?
    /// The file does not count: it is damaged, or of another topic than this.
    func discard(_ partition: Int32, _ reason: String)
}

/// One of them, open.
package protocol LedgerFile: AnyObject {
    /// Where the tail begins: the place of the newest mark when the copy was made. All that changed since follows it.
    var from: Int64 { get }
    /// The identity that the newest mark of the tail must have.
    var identity: [UInt8] { get }
    /// Takes what has been read of the file, about so many records.
    ///
    /// - Parameter mayWait: a few milliseconds for the disk.
    func next(_ records: Int, mayWait: Bool) -> LedgerFilePart
}

package enum LedgerFilePart: Sendable, Equatable {
    case records(StoredRecords)
    /// The disk has not given the next ones yet.
    case reading
    case end
    /// Nothing that was taken of it counts.
    case damaged(String)
}

/// The source of a restored ledger.
package enum LedgerSource: String, Sendable, CaseIterable {
    case topic, snapshot, kept, standby
}

/// A partition's copy on the disk.
package struct SnapshotReport: Sendable, Equatable {
    /// Milliseconds since 1970.
    package var takenAt: Int64
    package var bytes: Int

    package init(takenAt: Int64, bytes: Int) { (self.takenAt, self.bytes) = (takenAt, bytes) }
}

/// News of copies of ledgers for an operator.
package enum SnapshotNotice: Sendable, Equatable {
    case notWritten(Int32, String)
    /// A partition is restored from the topic alone.
    case notUsed(Int32, String)
}
