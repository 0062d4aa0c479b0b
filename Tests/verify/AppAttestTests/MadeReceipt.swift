import AppAttest
import Crypto

@testable import DeviceLab

/// A receipt put together part by part, so that each part can be wrong; by default the lab's own chain signs it.
struct MadeReceipt {
    static let ca = LabCA(seed: 7)
    static let time = EvaluationTime(milliseconds: 1_800_000_000_000)
    static let signer = ca.receipts.signer(at: time)
    static let intermediate = ca.receipts.intermediate
    static let roots = [CACertificate(der: ca.receiptRoot)].compactMap { $0 }

    static let sha256Algorithm = DER.sequence(OID.sha256, [0x05, 0x00])
    static let sha256WithoutNull = DER.sequence(OID.sha256)

    var fields: [(type: UInt8, value: [UInt8])] = [
        (2, Array("TEAM.app".utf8)), (3, [0x30, 0x00]), (4, [1, 2, 3]), (5, Array("token".utf8)),
        (6, Array("ATTEST".utf8)), (7, Array("production".utf8)), (12, Array("2027-01-15T08:00:00Z".utf8)),
        (21, Array("2027-04-15T08:00:00Z".utf8)),
    ]
    /// Instead of the set of fields.
    var payload: [UInt8]?
    var contentType = OID.signedData
    var version: [UInt8] = [0x02, 0x01, 0x01]
    var algorithms = DER.element([0x31], sha256Algorithm)
    var encapsulated: [UInt8]?
    var certificates = [signer.certificate, intermediate.certificate, ca.receiptRoot]
    var afterCertificates: [UInt8] = []
    var signerVersion: [UInt8] = [0x02, 0x01, 0x01]
    var signerID = DER.sequence(intermediate.name, serial(signer))
    var signerDigest = sha256Algorithm
    /// The members of the signed attributes; the signature then covers them instead of the content.
    var attributes: [[UInt8]]?
    var signatureAlgorithm = MadeLeaf.ecdsaWithSHA256
    var afterSignature: [UInt8] = []
    var isIndefinite = true
    var key = signer.key

    static func serial(_ authority: LabAuthority) -> [UInt8] {
        CACertificate(der: authority.certificate)?.serial ?? []
    }

    var content: [UInt8] {
        payload ?? DER.element([0x31], fields.flatMap { Self.field([$0.type], $0.value) })
    }

    /// After the others.
    mutating func addField(_ type: [UInt8], version: [UInt8] = [1]) {
        let others = fields.flatMap { Self.field([$0.type], $0.value) }
        payload = DER.element([0x31], others + Self.field(type, [0xFF], version: version))
    }

    static func field(_ type: [UInt8], _ value: [UInt8], version: [UInt8] = [1]) -> [UInt8] {
        DER.sequence(DER.integer(type), DER.integer(version), DER.octets(value))
    }

    /// contentType and messageDigest, as RFC 5652 asks for; DER sorts a set, so the shorter one comes first.
    static func attributes(digest: Digest) -> [[UInt8]] {
        [
            DER.sequence(OID.contentType, DER.element([0x31], OID.data)),
            DER.sequence(OID.messageDigest, DER.element([0x31], DER.octets(digest.bytes))),
        ]
    }

    /// Signed attributes with a content type attribute for each list of values.
    mutating func setContentTypes(_ lists: [[[UInt8]]]) {
        let types = lists.map { DER.sequence(OID.contentType, DER.element([0x31], $0.flatMap { $0 })) }
        attributes = types + Self.attributes(digest: SHA256.hash(content)).dropFirst()
    }

    mutating func set(_ type: UInt8, _ value: String?) {
        fields.removeAll { $0.type == type }
        if let value { fields.append((type, Array(value.utf8))) }
    }

    var bytes: [UInt8] {
        let content = content
        let attributes = attributes.map { $0.flatMap { $0 } }
        let covered = attributes.map { DER.element([0x31], $0) } ?? content
        let signature = DER.octets(key.sign(digest: SHA256.hash(covered).bytes).der)
        let signed = signerVersion + signerID + signerDigest + (attributes.map { DER.element([0xA0], $0) } ?? [])
        let info = DER.sequence(signed + signatureAlgorithm + signature + afterSignature)
        let inner = encapsulated ?? wrap(0x30, OID.data + wrap(0xA0, octets(content)))
        let members = version + algorithms + inner + wrap(0xA0, certificates.flatMap { $0 }) + afterCertificates
        return wrap(0x30, contentType + wrap(0xA0, wrap(0x30, members + DER.element([0x31], info))))
    }

    func octets(_ content: [UInt8]) -> [UInt8] {
        guard isIndefinite else { return DER.octets(content) }
        let cut = content.count / 2
        return wrap(0x24, DER.octets(Array(content[..<cut])) + DER.octets(Array(content[cut...])))
    }

    func wrap(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        isIndefinite ? [tag, 0x80] + content + [0, 0] : DER.element([tag], content)
    }

    /// Its verdict under expectations that agree with the default fields.
    func verdict(_ change: (inout ReceiptExpectations) -> Void = { _ in }) throws -> ReceiptVerdict {
        try Self.verdict(of: bytes, change)
    }

    static func verdict(
        of bytes: [UInt8],
        _ change: (inout ReceiptExpectations) -> Void = { _ in }
    ) throws -> ReceiptVerdict {
        var expectations = ReceiptExpectations(appIDs: [AppID("TEAM.app")], environments: [.production])
        expectations.type = .attest
        expectations.clientDataHash = [1, 2, 3]
        expectations.leaf = [0x30, 0x00]
        change(&expectations)
        let verifier = ObjectVerifier(anchors: try ca.anchors())
        return try verifier.prepareReceipt(bytes, expectations: expectations, at: time)
            .verified(by: OpenSSLEngine()).get()
    }
}
