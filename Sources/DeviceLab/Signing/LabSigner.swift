package import Crypto

/// Makes the signatures of devices, leaves and receipts: the interface at which an imitation can replace ECDSA.
package protocol LabSigner: Sendable {
    func sign(_ digest: [UInt8], with key: LabKey) -> LabSignature
}
