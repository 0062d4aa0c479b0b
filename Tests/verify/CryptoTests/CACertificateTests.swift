import Foundation
import TestKit
import Testing

@testable import Crypto

/// Apple's public anchors, and single faults in them.
@Suite(.enabled(if: WycheproofVectors.arePresent, Comment(rawValue: WycheproofVectors.absence)))
struct CACertificateTests {
    private static func certificate(_ name: String) throws -> CACertificate {
        let all = CACertificate.readPEM(Vectors.pem("\(name).pem"))
        try #require(all.count == 1)
        return try #require(all.first)
    }

    @Test(arguments: [
        ("Apple_App_Attestation_Root_CA", "1cb9823b", 1_584_556_373, 2_373_148_800),
        ("Apple_Root_CA_G3", "63343abf", 1_398_881_946, 2_187_800_346),
    ])
    func `a root reads as Apple published it`(name: String, digest: String, first: Int64, last: Int64) throws {
        let root = try Self.certificate(name)
        #expect(root.digest.bytes.prefix(4) == WycheproofVectors.bytes(hex: digest)[...])
        #expect(root.digest == SHA256.hash(root.der))
        #expect(root.notBefore == first * 1_000)
        #expect(root.notAfter == last * 1_000)
        #expect(root.isCA && root.mayCertSign && root.pathLength == nil)
        #expect(root.subject == root.issuer && root.subject.first == 0x30)
        #expect(root.isSigned(by: root))
        guard case .p384 = root.key else { throw CocoaError(.coderInvalidValue) }
    }

    @Test func `an intermediate is signed by its root and no other`() throws {
        let intermediate = try Self.certificate("Apple_Application_Integration_CA_5_G1")
        let root = try Self.certificate("Apple_Root_CA_G3")
        #expect(intermediate.isSigned(by: root))
        #expect(intermediate.issuer == root.subject)
        #expect(!root.isSigned(by: intermediate))
        #expect(try !intermediate.isSigned(by: Self.certificate("Apple_App_Attestation_Root_CA")))
        #expect(!intermediate.isSigned(by: intermediate))
        #expect(intermediate.isCA && intermediate.mayCertSign && intermediate.pathLength == nil)
        #expect(intermediate.hasExtension("1.2.840.113635.100.6.2.3"))
        #expect(!intermediate.hasExtension("1.2.840.113635.100.12.15"))
        #expect(!intermediate.hasExtension("not an identifier"))
        guard case .p256 = intermediate.key else { throw CocoaError(.coderInvalidValue) }
    }

    @Test func `a certificate cut anywhere or with a byte after it is refused`() throws {
        let der = try Self.certificate("Apple_Application_Integration_CA_5_G1").der
        #expect(CACertificate(der: der) != nil)
        for count in 0..<der.count { #expect(CACertificate(der: Array(der.prefix(count))) == nil) }
        #expect(CACertificate(der: der + [0]) == nil)
        #expect(CACertificate(der: der + der) == nil)
    }

    @Test(arguments: ["Apple_Application_Integration_CA_5_G1", "Apple_Root_CA_G3"])
    func `read without its key, a certificate says the same of its use, whatever bit is flipped`(name: String) throws {
        let der = try Self.certificate(name).der
        var (same, unreadable) = (0, 0)
        for bit in 0...(der.count * 8) {
            var copy = der
            // The last one is the certificate as it is.
            if bit < der.count * 8 { copy[bit / 8] ^= 1 << (bit % 8) }
            let facts = CertificateFacts(unusable: copy)
            guard let whole = CACertificate(der: copy) else {
                if facts == nil { unreadable += 1 }
                continue
            }
            #expect(facts?.isCA == whole.isCA && facts?.pathLength == whole.pathLength, "bit \(bit)")
            #expect(facts?.maySign == whole.maySign && facts?.mayCertSign == whole.mayCertSign, "bit \(bit)")
            same += 1
        }
        #expect(same > 0 && unreadable > 0)
    }

    @Test func `a root with a table refuses what it did not sign, a changed byte included, and nothing else`() throws {
        let root = try Self.certificate("Apple_Root_CA_G3")
        let intermediate = try Self.certificate("Apple_Application_Integration_CA_5_G1")
        let other = try Self.certificate("Apple_App_Attestation_Root_CA")
        let tables = P384Tables()
        #expect(!other.isRefused(by: root, tables: tables))
        root.prepareRefusals(in: tables)
        #expect(tables.count == 1)
        #expect(!root.isRefused(by: root, tables: tables))
        #expect(!intermediate.isRefused(by: root, tables: tables))
        #expect(other.isRefused(by: root, tables: tables))
        var refused = 0
        for index in intermediate.der.indices {
            var changed = intermediate.der
            changed[index] ^= 1 << UInt8(index % 8)
            guard let changed = CACertificate(der: changed) else { continue }
            // Another algorithm in the signature's place is OpenSSL's to refuse.
            if changed.key != nil, changed.isRefused(by: root, tables: tables) { refused += 1 }
            #expect(!changed.isSigned(by: root), "byte \(index)")
        }
        #expect(refused > 100)
    }

    @Test func `a PEM text may have several certificates and text around them`() throws {
        let (first, second) = (Vectors.appleReceiptRoot, Vectors.appleAttestationRoot)
        let text = Array("a comment\n".utf8) + first + Array("\nbetween\n".utf8) + second + Array("after\n".utf8)
        let digests = CACertificate.readPEM(text).map(\.digest)
        #expect(
            try digests == [
                Self.certificate("Apple_Root_CA_G3").digest, Self.certificate("Apple_App_Attestation_Root_CA").digest,
            ]
        )
    }

    @Test func `a PEM text with one unusable block gives nothing`() throws {
        let good = Vectors.appleReceiptRoot
        let text = try #require(String(bytes: good, encoding: .utf8))
        let broken = [
            "", "no certificate at all", String(text.dropLast(40)), text + text.dropLast(40),
            text.replacingOccurrences(of: "CERTIFICATE", with: "PUBLIC KEY"),
            text.replacingOccurrences(of: "CERTIFICATE", with: "TRUSTED CERTIFICATE"),
            text + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            text + "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
        ]
        #expect(CACertificate.readPEM(good).count == 1)
        for (index, text) in broken.enumerated() {
            #expect(CACertificate.readPEM(Array(text.utf8)).isEmpty, "text \(index)")
        }
        #expect(CACertificate.readPEM([0x30, 0x82, 0xFF, 0xFF, 0x00]).isEmpty)
    }
}
