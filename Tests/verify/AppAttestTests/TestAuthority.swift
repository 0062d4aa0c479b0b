import Crypto
import TestKit

@testable import DeviceLab

/// Authorities for the chain rules, with the lab's names: each of the last ones differs from `intermediate` in one thing.
enum TestAuthority {
    private static let factory = AuthorityFactory(secret: MadeReceipt.ca.secret)
    private static let unfit = MadeReceipt.ca.unfit
    private static let standing = madeRoot()

    /// P-384, valid from 2026-11-21 to 2036-11-18.
    static let root = standing.certificate
    static let rootName = LabName.root

    /// The root's name and key, but pathlen 0.
    static let rootWithPathLength0 = madeRoot {
        $0.replace(OID.basicConstraints, value: DER.sequence([0x01, 0x01, 0xFF], DER.integer([0])))
    }.certificate

    /// The root's name, another key.
    static let otherRoot = unfit.foreign.root.certificate

    /// Issued by `root`; outlives it: valid from 2026-11-21 to 2040-07-30.
    static let intermediate = issued()
    static let intermediateName = LabName.intermediate

    /// The root's name and another key, as for a rollover.
    static let rollover = issued { $0.subject = LabName.root }

    static let p256 = issued {
        $0.publicKey = CertificateDraft.publicKeyInfo(curve: .p256, point: MadeLeaf.basePoint)
    }

    /// With P-521's base point as its key.
    static let p521 = issued {
        let point = WycheproofVectors.bytes(
            hex: "0400C6858E06B70404E9CD9E3ECB662395B4429C648139053FB521F828AF606B4D3DBAA14B5E77EFE75928FE1DC127A2FF"
                + "A8DE3348B3C1856A429BF97E7E31C2E5BD66011839296A789A3BC0045C8A5FB42C7D1BD998F54449579B446817AFBD1727"
                + "3E662C97EE72995EF42640C550B9013FAD0761353C7086A272C24088BE94769FD16650"
        )
        let curve = DER.sequence(OID.ecPublicKey, DER.oid([0x2B, 0x81, 0x04, 0x00, 0x23]))
        $0.publicKey = DER.sequence(curve, DER.bits(point))
    }

    /// cA is FALSE.
    static let notCA = unfit.intermediate("not-ca")
    /// cA without keyCertSign.
    static let mayNotSign = unfit.intermediate("no-cert-sign")
    static let unknownCritical = unfit.intermediate("critical-extension")
    /// Issued by `otherRoot`.
    static let ofOtherRoot = unfit.foreign.intermediate.certificate

    private static func madeRoot(_ edit: (inout CertificateDraft) -> Void = { _ in }) -> LabAuthority {
        let validity = Validity(from: (2026, 11, 21), to: (2036, 11, 18))
        return factory.authority(.root, "attestation root", validity: validity, edit: edit)
    }

    private static func issued(_ edit: (inout CertificateDraft) -> Void = { _ in }) -> [UInt8] {
        let validity = Validity(from: (2026, 11, 21), to: (2040, 7, 30))
        let label = "attestation intermediate"
        return factory.authority(.intermediate, label, issuer: standing, validity: validity, edit: edit).certificate
    }
}
