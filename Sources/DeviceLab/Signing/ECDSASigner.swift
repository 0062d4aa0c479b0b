package import Crypto

/// Real ECDSA, deterministic.
package struct ECDSASigner: LabSigner {
    package init() {}

    package func sign(_ digest: [UInt8], with key: LabKey) -> LabSignature { key.sign(digest: digest) }

    package func sign(_ requests: [LabSigningRequest], in batch: LabBatch) -> [LabSignature] { batch.sign(requests) }
}
