package import Crypto

/// Makes the signatures of devices, leaves and receipts: the interface at which an imitation can replace ECDSA.
package protocol LabSigner: Sendable {
    func sign(_ digest: [UInt8], with key: LabKey) -> LabSignature

    /// The same signatures, made together.
    ///
    /// - Parameter batch: the calling thread's own.
    func sign(_ requests: [LabSigningRequest], in batch: LabBatch) -> [LabSignature]
}

extension LabSigner {
    package func sign(_ requests: [LabSigningRequest], in batch: LabBatch) -> [LabSignature] {
        requests.map { sign($0.digest, with: $0.key) }
    }
}
