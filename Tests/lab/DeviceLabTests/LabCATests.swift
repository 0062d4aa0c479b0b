internal import AppAttest
internal import Crypto
internal import Testing

@testable internal import DeviceLab

@Suite struct LabCATests {
    @Test func `OpenSSL verifies the attestation chain`() throws {
        let root = try #require(CACertificate(der: Lab.ca.attestationRoot))
        let intermediate = try #require(CACertificate(der: Lab.ca.intermediate.certificate))
        #expect(root.isSigned(by: root) && intermediate.isSigned(by: root))
        #expect(intermediate.issuer == root.subject && root.issuer == root.subject)
        #expect(root.isCA && root.pathLength == nil && root.mayCertSign)
        #expect(intermediate.isCA && intermediate.pathLength == 0 && intermediate.mayCertSign)
    }

    @Test func `the receipt chain holds for every year's signer`() throws {
        let receipts = Lab.ca.receipts
        let root = try #require(CACertificate(der: receipts.root.certificate))
        let intermediate = try #require(CACertificate(der: receipts.intermediate.certificate))
        #expect(root.isSigned(by: root) && intermediate.isSigned(by: root) && intermediate.isCA)
        #expect(intermediate.hasExtension("1.2.840.113635.100.6.2.3"))
        var keys: Set<[UInt8]> = []
        for year in ReceiptAuthorities.years {
            let signer = try #require(CACertificate(der: receipts.signer(year: year).certificate))
            #expect(signer.isSigned(by: intermediate) && signer.issuer == intermediate.subject && !signer.isCA)
            #expect(signer.hasExtension("1.2.840.113635.100.12.15"))
            keys.insert(receipts.signer(year: year).key.x963)
            for time in [CivilTime.midnight(year, 1, 20), CivilTime.midnight(year + 1, 1, 20) - 1] {
                #expect(receipts.signer(at: time).serial == receipts.signer(year: year).serial)
                #expect(signer.notBefore <= time.milliseconds && time.milliseconds <= signer.notAfter)
            }
        }
        #expect(keys.count == ReceiptAuthorities.years.count)
    }

    @Test func `each unfit authority has its one fault`() throws {
        let unfit = Lab.ca.unfit
        let root = try #require(CACertificate(der: Lab.ca.attestationRoot))
        func read(_ der: [UInt8]) throws -> CACertificate { try #require(CACertificate(der: der)) }
        let foreign = try read(unfit.foreign.intermediate.certificate)
        #expect(!foreign.isSigned(by: root))
        #expect(try foreign.isSigned(by: read(unfit.foreign.root.certificate)))
        #expect(try !read(unfit.intermediate("signature-flipped")).isSigned(by: root))
        let rest = [
            "expired", "not-yet-valid", "not-ca", "no-constraints", "no-cert-sign", "issuer-name",
            "critical-extension",
        ]
        for fault in rest {
            let certificate = unfit.intermediate(fault)
            #expect(try read(certificate).isSigned(by: root))
            #expect(certificate.firstRange(of: Lab.ca.intermediate.key.x963) != nil)
        }
    }

    @Test func `an authority is restored from its file with the same keys`() throws {
        let ca = LabCA(seed: 99)
        let back = try LabCA(exported: ca.exported)
        #expect(back.attestationRoot == ca.attestationRoot)
        #expect(back.intermediate.certificate == ca.intermediate.certificate)
        #expect(back.receiptRoot == ca.receiptRoot)
        #expect(back.attestationAnchorPEM == ca.attestationAnchorPEM)
        #expect(LabCA(seed: 98).attestationRoot != ca.attestationRoot)
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"labAuthority": 2, "secret": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}"#,
        #"{"labAuthority": 1, "secret": "AAAA"}"#, #"{"labAuthority": 1}"#, #"{"labAuthority": 1, "secret": 7}"#,
    ])
    func `a file that is not an authority file is refused`(text: String) {
        #expect(throws: LabCAFault.unreadable) { try LabCA(exported: Array(text.utf8)) }
    }

    @Test func `anchors are PEM that the verifier reads`() throws {
        let anchors = try TrustAnchors(
            attestationPEM: [Lab.ca.attestationAnchorPEM],
            receiptPEM: [Lab.ca.receiptAnchorPEM]
        )
        let device = Lab.device(.ios27_0_1)
        let object = device.attest(clientDataHash: Lab.clientDataHash, at: Lab.noon)
        #expect(reason(ObjectVerifier(anchors: anchors).attestation(object, of: device)) == nil)
        let text = String(decoding: Lab.ca.attestationAnchorsPEM, as: UTF8.self)
        #expect(text.split(separator: "\n").count { $0 == "-----BEGIN CERTIFICATE-----" } == 3)
        #expect(text.split(separator: "\n").allSatisfy { $0.utf8.count <= 64 })
    }
}
