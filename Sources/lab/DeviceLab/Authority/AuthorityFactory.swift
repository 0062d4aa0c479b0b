internal import Crypto

/// Makes authorities from one secret: same secret and label, same key, same certificate.
///
/// Certificates of authorities always carry real signatures; only signatures that a verifier passes to its engine go
/// through a ``LabSigner``.
struct AuthorityFactory: Sendable {
    let secret: [UInt8]

    /// - Parameters:
    ///   - label: distinguishes keys; two authorities of one label share their key.
    ///   - name: nil for its rank's.
    ///   - issuer: nil for a self-signed root.
    ///   - edit: the last change before signing.
    func authority(
        _ rank: AuthorityRank,
        _ label: String,
        name: [UInt8]? = nil,
        issuer: LabAuthority? = nil,
        validity: Validity = .long,
        edit: (inout CertificateDraft) -> Void = { _ in }
    ) -> LabAuthority {
        let (key, name) = (LabKey(rank.curve, seed: secret + Array(label.utf8)), name ?? rank.name)
        var draft = CertificateDraft(
            serial: serial(label),
            hash: rank.hash,
            issuer: issuer?.name ?? name,
            validity: validity,
            subject: name,
            publicKey: CertificateDraft.publicKeyInfo(curve: key.curve, point: key.x963),
            extensions: rank.extensions(key, issuer?.key ?? key)
        )
        edit(&draft)
        let certificate = draft.unsigned(by: issuer?.key ?? key).signed(by: ECDSASigner())
        return LabAuthority(key: key, name: name, serial: draft.serial, certificate: certificate)
    }

    /// A root with an intermediate under it, which is valid for long.
    ///
    /// - Parameter name: of the root; nil for its rank's.
    func chain(_ label: String, name: [UInt8]? = nil, validity: Validity = .long) -> LabChain {
        let root = authority(.root, "\(label) root", name: name, validity: validity)
        return LabChain(root: root, intermediate: authority(.intermediate, "\(label) intermediate", issuer: root))
    }

    /// Sixteen bytes, as Apple's authorities have; positive and without leading zeros.
    private func serial(_ label: String) -> [UInt8] {
        var serial = Array(SHA256.hash(Array("serial".utf8) + secret + Array(label.utf8)).bytes.prefix(16))
        serial[0] = serial[0] & 0x7F | 0x40
        return serial
    }
}

/// A fake authority: its key, its name and the certificate that introduces it.
struct LabAuthority: Sendable {
    let key: LabKey
    let name: [UInt8]
    let serial: [UInt8]
    var certificate: [UInt8]

    /// Key identifier as RFC 5280 makes it.
    static func keyIdentifier(_ key: LabKey) -> [UInt8] { LabKey.sha1(key.x963) }
}

struct LabChain: Sendable {
    let root: LabAuthority
    let intermediate: LabAuthority
}
