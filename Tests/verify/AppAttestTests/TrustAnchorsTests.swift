import Crypto
import TestKit
import Testing

@testable import AppAttest

@Suite struct TrustAnchorsTests {
    @Test func `DER and PEM anchors are read`() throws {
        let der = try TrustAnchors(attestationPEM: [TestAuthority.root], receiptPEM: [TestAuthority.otherRoot])
        #expect(der.attestation.map(\.der) == [TestAuthority.root])
        #expect(der.receipt.map(\.der) == [TestAuthority.otherRoot])
    }

    @Test(.enabled(if: Vectors.arePresent, Vectors.absence)) func `Apple's anchors are read`() throws {
        let both = Vectors.appleAttestationRoot + Vectors.appleReceiptRoot
        let anchors = try TrustAnchors(attestationPEM: [both], receiptPEM: [Vectors.appleReceiptRoot])
        #expect(anchors.attestation.count == 2)
        #expect(anchors.receipt.count == 1)
    }

    @Test(arguments: [
        [], Array("no PEM".utf8), TestAuthority.notCA, TestAuthority.mayNotSign, TestAuthority.unknownCritical,
        TestAuthority.p521, TestAuthority.root + [0],
    ])
    func `an unusable anchor is named by list and index`(_ text: [UInt8]) {
        let texts = [TestAuthority.root, text]
        for list in [AnchorFault.List.attestation, .receipt] {
            let (attestation, receipt): ([[UInt8]], [[UInt8]]) = list == .attestation ? (texts, []) : ([], texts)
            let fault = #expect(throws: AnchorFault.self) {
                try TrustAnchors(attestationPEM: attestation, receiptPEM: receipt)
            }
            #expect(fault?.list == list && fault?.index == 1 && fault?.reason.isEmpty == false)
        }
    }
}

@Suite struct TrustedIntermediatesTests {
    private func code(_ intermediate: [UInt8], roots: [[UInt8]]) throws -> String {
        var attestation = MadeAttestation()
        attestation.intermediate = intermediate
        return try attestation.verdict(roots: roots).code
    }

    @Test func `an intermediate of any configured root is trusted`() throws {
        let roots = [TestAuthority.otherRoot, TestAuthority.root]
        #expect(try code(TestAuthority.intermediate, roots: roots) == "valid")
        #expect(try code(TestAuthority.ofOtherRoot, roots: roots) == "valid")
        #expect(try code(TestAuthority.ofOtherRoot, roots: [TestAuthority.root]) == "chain")
        #expect(try code(TestAuthority.intermediate, roots: []) == "chain")
    }

    @Test func `a root of path length 0 issues no intermediates`() throws {
        #expect(try code(TestAuthority.intermediate, roots: [TestAuthority.rootWithPathLength0]) == "chain")
    }

    @Test func `a certificate that names itself as its issuer is no intermediate, whoever signed it`() throws {
        var attestation = MadeAttestation()
        attestation.intermediate = TestAuthority.rollover
        attestation.leaf.issuer = TestAuthority.rootName
        #expect(try attestation.verdict().code == "chain")
    }

    @Test func `a configured intermediate is trusted as it is`() throws {
        #expect(try code(TestAuthority.intermediate, roots: [TestAuthority.intermediate]) == "valid")
        #expect(try code(TestAuthority.ofOtherRoot, roots: [TestAuthority.intermediate]) == "chain")
    }

    @Test func `the cache keeps verified certificates, and no others`() throws {
        let anchors = try TrustAnchors(attestationPEM: [TestAuthority.root], receiptPEM: [])
        var intermediates = TrustedIntermediates(roots: anchors.attestation)
        for der in [TestAuthority.notCA, TestAuthority.ofOtherRoot, TestAuthority.p521] {
            #expect(throws: Refusal.self) { try intermediates.trusted(0..<der.count, der.span) }
            #expect(intermediates.count == 0)
        }
        let der = TestAuthority.intermediate
        let first = try intermediates.trusted(0..<der.count, der.span)
        let second = try intermediates.trusted(0..<der.count, der.span)
        #expect(intermediates.count == 1)
        #expect(first.subject == second.subject)
        #expect(first.roots == second.roots)
    }

    @Test func `a full cache forgets the oldest and still trusts it`() throws {
        let anchors = try TrustAnchors(attestationPEM: [TestAuthority.root, TestAuthority.otherRoot], receiptPEM: [])
        var intermediates = TrustedIntermediates(roots: anchors.attestation, capacity: 2)
        for der in [
            TestAuthority.intermediate, TestAuthority.p256, TestAuthority.ofOtherRoot, TestAuthority.intermediate,
        ] {
            _ = try intermediates.trusted(0..<der.count, der.span)
            #expect(intermediates.count <= 2)
        }
    }
}

/// Certificates that OpenSSL reads without complaint and RFC 5280 refuses.
@Suite struct CertificateExtensionsTests {
    private static func certificate(_ extensions: [[UInt8]]) -> [UInt8] {
        var leaf = MadeLeaf()
        leaf.extensions = extensions
        return leaf.der
    }

    private static let constraints = MadeLeaf.ext([0x55, 0x1D, 0x13], critical: true, [0x30, 0x03, 0x01, 0x01, 0xFF])

    private static func flaw(_ extensions: [[UInt8]]) -> CertificateExtensions.Flaw? {
        do throws(CertificateExtensions.Flaw) { try CertificateExtensions.judge(certificate(extensions)) } catch {
            return error
        }
        return nil
    }

    @Test(arguments: [
        [constraints, MadeLeaf.keyUsage],
        [MadeLeaf.ext([0x55, 0x1D, 0x13], [0x30, 0x00])],
        [MadeLeaf.ext([0x55, 0x1D, 0x13], [0x30, 0x06, 0x01, 0x01, 0xFF, 0x02, 0x01, 0x00])],
        // Name constraints, policies, extended key usage, subject key identifier, none of them critical.
        [0x1E, 0x20, 0x25, 0x0E].map { MadeLeaf.ext([0x55, 0x1D, $0], [0x05, 0x00]) },
    ])
    func `extensions that are processed, or that need not be, pass`(_ extensions: [[UInt8]]) {
        #expect(Self.flaw(extensions) == nil)
    }

    /// Subject alternative name, name constraints, policies, mappings, policy constraints, usage, inhibit anyPolicy.
    @Test(arguments: [0x11, 0x1E, 0x20, 0x21, 0x24, 0x25, 0x36] as [UInt8])
    func `an unprocessed critical extension is a flaw`(_ last: UInt8) {
        let critical = MadeLeaf.ext([0x55, 0x1D, last], critical: true, [0x05, 0x00])
        #expect(Self.flaw([Self.constraints, critical]) == .unprocessedCritical)
        #expect(Self.flaw([critical, Self.constraints]) == .unprocessedCritical)
    }

    @Test(arguments: [
        DER.sequence(DER.oid([0x55, 0x1D, 0x0F]), [0x01, 0x01, 0x01], DER.octets([0x03, 0x02, 0x01, 0x06])),
        DER.sequence(DER.oid([0x55, 0x1D, 0x0F]), [0x01, 0x01, 0x00], DER.octets([0x03, 0x02, 0x01, 0x06])),
        DER.sequence(DER.oid([0x55, 0x1D, 0x0F]), [0x01, 0x02, 0xFF, 0xFF], DER.octets([0x03, 0x02, 0x01, 0x06])),
        MadeLeaf.ext([0x55, 0x1D, 0x13], critical: true, [0x30, 0x03, 0x01, 0x01, 0x01]),
        MadeLeaf.ext([0x55, 0x1D, 0x13], critical: true, [0x30, 0x03, 0x01, 0x01, 0x00]),
        MadeLeaf.ext([0x55, 0x1D, 0x13], critical: true, [0x30, 0x05, 0x01, 0x01, 0xFF, 0x05, 0x00]),
    ])
    func `a BOOLEAN is encoded as in DER`(_ extension: [UInt8]) {
        #expect(Self.flaw([`extension`]) == .notDER)
    }

    @Test(
        .enabled(if: Vectors.arePresent, Vectors.absence),
        arguments: [
            "Apple_App_Attestation_Root_CA.pem", "Apple_Root_CA_G3.pem", "Apple_Application_Integration_CA_5_G1.pem",
        ]
    )
    func `Apple's certificates have no flaw`(_ name: String) throws {
        for certificate in CACertificate.readPEM(Vectors.pem(name)) {
            #expect(throws: Never.self) { try CertificateExtensions.judge(certificate.der) }
        }
    }
}
