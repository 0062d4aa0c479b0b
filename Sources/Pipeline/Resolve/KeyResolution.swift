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

/// The keys that attestations of batches in flight claim: not registered yet, perhaps never.
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

    package subscript(key: KeyID) -> P256PublicKey? { keys[key] }
}

/// Resolve (loop): the stored key of each request, or a candidate's.
package enum ResolveStage {
    /// - Parameters:
    ///   - ledger: the committed keys of a partition.
    ///   - candidates: claimed keys of this batch and of the ones before it that have not committed.
    package static func resolve(
        _ records: [DecodedRecord],
        ledger: (Int32) -> PartitionLedger?,
        candidates: [CandidateKeys]
    ) -> [KeyResolution] {
        var run = LedgerRun()
        return records.map { record in
            guard case .request(let request) = record.shape, request.isAssertion, let keyID = request.keyID
            else { return .notNeeded }
            run.move(to: record.record.partition, ledger)
            let lookup = run.ledger?.keys.lookup(keyID) ?? .unknown
            if case .key(let key) = lookup { return .key(key) }
            for batch in candidates {
                if let key = batch[keyID] { return .key(key) }
            }
            return lookup == .unusable ? .unusable : .unknown
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
