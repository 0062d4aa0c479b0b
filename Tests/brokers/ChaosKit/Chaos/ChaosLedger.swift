internal import AppAttest
internal import Pipeline
package import Streams

/// The ledger topic's content: the last value of each key, as after compaction.
package struct ChaosLedger: Sendable, Equatable {
    /// A challenge or a token's id that was used up.
    package struct Consumed: Sendable, Hashable {
        package var partition: Int32
        /// Milliseconds since 1970.
        package var expiresAt: Int64
    }

    /// Ids are forgotten in groups of so many milliseconds; see ``ConsumedIDs``.
    package static let forgettingMilliseconds: Int64 = 10_000

    /// Records that a reader gets now, whatever compaction has done yet.
    package var records = 0
    /// Keys whose last value says that they are forgotten.
    package var tombstones = 0
    package var keys = 0
    package var consumed: [Consumed] = []
    /// Stream times, rates, sealing keys.
    package var others = 0

    /// The entries that survive compaction.
    package var size: Int { keys + consumed.count + others }

    /// The entries that have expired at the partitions' stream times, in milliseconds.
    package func overdue(at streamTimes: [Int32: Int64]) -> Int {
        consumed.count { $0.expiresAt + Self.forgettingMilliseconds <= streamTimes[$0.partition] ?? 0 }
    }

    /// Takes in the topic's records, in order per partition.
    package struct Reader {
        private struct Name: Hashable {
            let partition: Int32
            let key: [UInt8]
        }

        private var last: [Name: [UInt8]?] = [:]
        private var records = 0

        package mutating func read(_ record: InboundRecord) {
            records += 1
            last.updateValue(record.value, forKey: Name(partition: record.partition, key: record.key ?? []))
        }

        /// - Throws: for a record that the worker itself could not read.
        package func ledger() throws -> ChaosLedger {
            var ledger = ChaosLedger()
            ledger.records = records
            for (name, value) in last {
                guard value != nil else {
                    ledger.tombstones += 1
                    continue
                }
                switch try LedgerCodec.decode(key: name.key, value: value) {
                case .key: ledger.keys += 1
                case .challenge(_, let consumed), .token(_, let consumed):
                    let expiresAt = consumed.expiresAt.milliseconds
                    ledger.consumed.append(Consumed(partition: name.partition, expiresAt: expiresAt))
                default: ledger.others += 1
                }
            }
            return ledger
        }
    }
}
