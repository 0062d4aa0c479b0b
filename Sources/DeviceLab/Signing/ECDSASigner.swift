package import Crypto

/// Real ECDSA, deterministic.
package struct ECDSASigner: LabSigner {
    package init() {}

    package func sign(_ digest: [UInt8], with key: LabKey) -> LabSignature { key.sign(digest: digest) }
}
