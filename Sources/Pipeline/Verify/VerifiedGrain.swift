package import AppAttest
package import Crypto
internal import Log

/// The findings of Verify in a grain.
package struct VerifiedGrain: Sendable {
    /// One for each record.
    package var findings: [Finding] = []
    /// Second points that were computed on the way.
    package var seconds: [ComputedSecond] = []

    package init() {}

    /// Notes the second point of a request's key.
    mutating func add(_ second: P256SecondPoint, of check: SignatureCheck, in record: DecodedRecord) {
        guard record.bringsAssertion, let keyID = record.keyID, case .p256(let key, _, _, _) = check else { return }
        let partition = record.record.partition
        seconds.append(ComputedSecond(partition: partition, keyID: keyID, key: key, second: second))
    }
}

/// A second point that the ledger may keep with its key.
package struct ComputedSecond: Sendable {
    package let partition: Int32
    package let keyID: KeyID
    package let key: P256PublicKey
    package let second: P256SecondPoint
}
