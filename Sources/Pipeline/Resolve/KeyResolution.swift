package import AppAttest
internal import AppCheck
package import Crypto

/// The key that a request's signature will be checked against, found before the lanes verify it.
package enum KeyResolution: Sendable, Equatable {
    /// The request needs none, or is refused already.
    case notNeeded
    case unknown
    /// Stored, but no point of the curve.
    case unusable
    /// From the ledger, or from an attestation before it that is not admitted yet. A key ID is its key's digest, so both are
    /// the same key; whether it was really registered is judged in Admit.
    case key(P256PublicKey)
}

/// The keys that attestations of batches in flight claim, and those that artifacts in them may bring back: not in the
/// ledger yet, perhaps never.
package struct CandidateKeys: Sendable {
    private var keys: [KeyID: P256PublicKey] = [:]

    package init() {}

    package mutating func add(_ records: [DecodedRecord]) {
        for record in records {
            guard let key = record.claimedKey, case .request(let request) = record.shape,
                let keyID = request.keyID
            else { continue }
            keys[keyID] = key
        }
    }

    mutating func add(_ key: P256PublicKey, of keyID: KeyID) { keys[keyID] = key }

    package subscript(key: KeyID) -> P256PublicKey? { keys[key] }
}

/// Resolve (loop): the stored key of each request, or a candidate's.
package enum ResolveStage {
    /// - Parameters:
    ///   - ledger: the committed keys of a partition.
    ///   - candidates: claimed keys of this batch; those that its artifacts may bring back are added.
    ///   - earlier: the same of the batches before it that have not committed.
    ///   - sealed: the key in a genuine artifact, where the ledger may take it back.
    package static func resolve(
        _ records: [DecodedRecord],
        ledger: (Int32) -> PartitionLedger?,
        candidates: inout CandidateKeys,
        earlier: [CandidateKeys],
        sealed: (_ artifact: [UInt8]) -> P256PublicKey?
    ) -> [KeyResolution] {
        var run = LedgerRun()
        return records.map { record in
            guard case .request(let request) = record.shape, request.isAssertion, let keyID = request.keyID
            else { return .notNeeded }
            run.move(to: record.record.partition, ledger)
            let lookup = run.ledger?.keys.lookup(keyID) ?? .unknown
            if case .key(let key) = lookup { return .key(key) }
            if let key = candidates[keyID] { return .key(key) }
            for batch in earlier {
                if let key = batch[keyID] { return .key(key) }
            }
            guard lookup == .unknown else { return .unusable }
            // A lost key: whoever comes behind this record may find it in the ledger again.
            if case .exchangeAssertion(let artifact, _, _, _) = request.body, let key = sealed(artifact) {
                candidates.add(key, of: keyID)
                return .key(key)
            }
            return .unknown
        }
    }
}

extension Request {
    /// Whether the verb's object is an assertion.
    var isAssertion: Bool {
        switch body {
        case .verifyAssertion, .exchangeAssertion: true
        case .verifyAttestation, .exchangeAttestation, .generateChallenge, .verifyToken: false
        }
    }
}
