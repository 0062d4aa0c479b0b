package import AppAttest
internal import AppCheck
package import Crypto

/// Keys that attestations of batches in flight claim, and keys that artifacts in them may restore: not in the ledger
/// yet, perhaps never.
package struct CandidateKeys: Sendable {
    private var keys: [KeyID: P256PublicKey] = [:]

    package init() {}

    package mutating func add(_ records: [DecodedRecord]) {
        for record in records {
            guard let key = record.claimedKey, let keyID = record.keyID else { continue }
            keys[keyID] = key
        }
    }

    mutating func add(_ key: P256PublicKey, of keyID: KeyID) { keys[keyID] = key }

    package subscript(key: KeyID) -> P256PublicKey? { keys[key] }
}
