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
    func sign(_ request: LabSigningRequest) -> LabSignature { sign(request.digest, with: request.key) }

    package func sign(_ requests: [LabSigningRequest], in batch: LabBatch) -> [LabSignature] {
        requests.map { sign($0.digest, with: $0.key) }
    }
}

/// Imitates ECDSA by hashing: only ``OracleEngine`` accepts it. It lets a fuzz target re-sign millions of objects at
/// the cost of two hashes each.
///
/// Anyone can make such signatures: tests only.
package struct OracleSigner: LabSigner {
    package init() {}

    package func sign(_ digest: [UInt8], with key: LabKey) -> LabSignature {
        Self.signature(x963: key.x963, digest: digest)
    }

    static func signature(x963: [UInt8], digest: [UInt8]) -> LabSignature {
        LabSignature(r: scalar("r", x963, digest), s: scalar("s", x963, digest))
    }

    /// A scalar in 1 ..< n of both curves: below 2^255, and odd.
    private static func scalar(_ label: String, _ x963: [UInt8], _ digest: [UInt8]) -> [UInt8] {
        var bytes = SHA256.hash(Array(label.utf8) + x963 + digest).bytes
        bytes[0] &= 0x7F
        bytes[31] |= 1
        return bytes
    }
}

/// Accepts exactly the signatures of ``OracleSigner``.
package final class OracleEngine: SignatureEngine {
    package init() {}

    package func verify(_ checks: [SignatureCheck]) -> [Bool] { checks.map(Self.isSigned) }

    private static func isSigned(_ check: SignatureCheck) -> Bool {
        switch check {
        case .p256(let key, let digest, let signature):
            let expected = OracleSigner.signature(x963: key.x963, digest: digest.bytes)
            return expected.r == signature.r.bytes && expected.s == signature.s.bytes
        case .p384(let key, let digest, let signature):
            return OracleSigner.signature(x963: key.x963, digest: digest.bytes).der == signature
        }
    }
}

/// Real ECDSA, deterministic.
package struct ECDSASigner: LabSigner {
    package init() {}

    package func sign(_ digest: [UInt8], with key: LabKey) -> LabSignature { key.sign(digest: digest) }

    package func sign(_ requests: [LabSigningRequest], in batch: LabBatch) -> [LabSignature] { batch.sign(requests) }
}
