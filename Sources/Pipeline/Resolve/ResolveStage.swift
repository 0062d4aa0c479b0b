internal import AppCheck
package import Crypto
internal import Log

/// Resolve (loop): the stored key of each request, or a candidate's.
package enum ResolveStage {
    /// - Parameters:
    ///   - ledger: the committed keys of a partition.
    ///   - candidates: claimed keys of this batch; those that its artifacts may restore are added.
    ///   - earlier: the same of the batches before it that have not committed.
    ///   - work: notes each record before it is looked at.
    ///   - sealed: the key in a genuine artifact, where the ledger may restore it.
    package static func resolve(
        _ records: [DecodedRecord],
        ledger: (Int32) -> PartitionLedger?,
        candidates: inout CandidateKeys,
        earlier: [CandidateKeys],
        work: WorkSlot? = nil,
        sealed: (_ artifact: [UInt8]) -> P256PublicKey?
    ) -> [KeyResolution] {
        var views = LedgerViews()
        return records.map { record in
            work?.note(record)
            guard record.bringsAssertion, let keyID = record.keyID else { return .notNeeded }
            let lookup = views.lookup(keyID, on: record.record.partition, ledger)
            if case .key(let key, let second) = lookup { return .key(key, second: second) }
            // A lost key: the records after this one may find it in the ledger again. It is noted with this batch even
            // if an earlier one has it: that one's record may be refused, and leaves before the next is resolved.
            if lookup == .unknown, candidates[keyID] == nil,
                let artifact = record.request?.exchange?.artifact, let key = sealed(artifact)
            {
                candidates.add(key, of: keyID)
            }
            if let key = candidates[keyID] { return .key(key) }
            for batch in earlier {
                if let key = batch[keyID] { return .key(key) }
            }
            return lookup == .unknown ? .unknown : .unusable
        }
    }
}
