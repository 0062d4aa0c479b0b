package import AppAttest
internal import AppCheck
package import Crypto
internal import Streams

/// Resolve (loop): the stored key of each request, or a candidate's.
package enum ResolveStage {
    /// - Parameters:
    ///   - ledger: the committed keys of a partition.
    ///   - candidates: claimed keys of this batch; those that its artifacts may restore are added.
    ///   - earlier: the same of the batches before it that have not committed.
    ///   - keysEnd: whether keys of the ledger may be unknown to Admit.
    ///   - work: notes each record before it is looked at.
    ///   - sealed: the key in a genuine artifact, where the ledger may restore it.
    package static func resolve(
        _ records: [DecodedRecord],
        ledger: (Int32) -> PartitionLedger?,
        candidates: inout CandidateKeys,
        earlier: [CandidateKeys],
        keysEnd: Bool = false,
        work: WorkSlot? = nil,
        sealed: (_ artifact: [UInt8]) -> P256PublicKey?
    ) -> [KeyResolution] {
        var views = LedgerViews()
        var keys: [KeyResolution] = []
        keys.reserveCapacity(records.count)
        let records = records.span
        for index in records.indices {
            let record = records[index]
            work?.note(record)
            keys.append(resolve(record, ledger, &candidates, earlier, keysEnd, sealed, &views))
        }
        return keys
    }

    private static func resolve(
        _ record: DecodedRecord,
        _ ledger: (Int32) -> PartitionLedger?,
        _ candidates: inout CandidateKeys,
        _ earlier: [CandidateKeys],
        _ keysEnd: Bool,
        _ sealed: (_ artifact: [UInt8]) -> P256PublicKey?,
        _ views: inout LedgerViews
    ) -> KeyResolution {
        guard record.bringsAssertion, let keyID = record.keyID else { return .notNeeded }
        let lookup = views.lookup(keyID, on: record.record.partition, ledger)
        if case .key(let key) = lookup {
            // One that has ended may be forgotten before the records after this one are resolved.
            if keysEnd, record.request?.exchange?.artifact != nil { candidates.add(key, of: keyID) }
            return .key(key)
        }
        // A lost key: the records after this one may find it in the ledger again. It is noted with this batch even
        // if an earlier one has it: that one's record may be refused, and leaves before the next is resolved.
        if lookup == .unknown || keysEnd, candidates[keyID] == nil,
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

/// Keys that attestations of batches in flight claim, and keys that artifacts in them may restore: not in the ledger
/// yet, perhaps never.
package struct CandidateKeys: Sendable {
    private var keys: [KeyID: P256PublicKey] = [:]

    package mutating func add(_ records: [DecodedRecord]) {
        for record in records {
            guard let key = record.claimedKey, let keyID = record.keyID else { continue }
            keys[keyID] = key
        }
    }

    mutating func add(_ key: P256PublicKey, of keyID: KeyID) { keys[keyID] = key }

    package subscript(key: KeyID) -> P256PublicKey? { keys[key] }
}

/// The key for checking a request's signature, found before the lanes verify it.
package enum KeyResolution: Sendable, Equatable {
    /// The request needs none, or is refused already.
    case notNeeded
    case unknown
    /// Stored, but no point of the curve.
    case unusable
    /// The key, from the ledger or from an attestation or artifact that is not admitted yet. A key ID is its key's
    /// digest, so all are the same key. Includes every key that Admit may find in the ledger; Admit judges whether it
    /// is there.
    case key(P256PublicKey)
}
