import Crypto
import TestKit
import Testing

@testable import AppAttest
@testable import DeviceLab

/// Certificates that our own arithmetic refuses get the reason that OpenSSL's reading of all of them would give.
@Suite struct CertificateReasonTests {
    /// Every byte of a certificate with one bit flipped, in steps.
    private static func flips(_ der: [UInt8], step: Int) -> [[UInt8]] {
        stride(from: 0, to: der.count, by: step).map { index in
            var changed = der
            changed[index] ^= 1 << UInt8((index * 5 + 3) % 8)
            return changed
        }
    }

    @Test(arguments: [0, 1, 2])
    func `a receipt with a damaged certificate has the reason that reading all would give`(place: Int) throws {
        let whole = MadeReceipt()
        var warm = ReceiptSigners(roots: MadeReceipt.roots)
        let bytes = whole.bytes
        _ = try warm.trusted(ReceiptContainer(bytes.span), bytes.span)
        var reasons: [ReceiptRefusal: Int] = [:]
        for damaged in Self.flips(whole.certificates[place], step: 3) {
            var receipt = whole
            receipt.certificates[place] = damaged
            let bytes = receipt.bytes
            guard (try? ReceiptContainer(bytes.span)) != nil else { continue }
            let expected = try WholeReading.refusal(bytes, roots: MadeReceipt.roots)
            #expect(Self.refusal(&warm, bytes) == expected, "\(damaged)")
            var cold = ReceiptSigners(roots: MadeReceipt.roots)
            #expect(Self.refusal(&cold, bytes) == expected, "\(damaged)")
            if let expected { reasons[expected, default: 0] += 1 }
        }
        #expect(reasons.keys.count == 2)
        #expect(reasons[.chain, default: 0] > 20)
        #expect(reasons[.badCertificate, default: 0] > 5)
        #expect(warm.count == 1)
    }

    @Test func `lists of certificates have the reason that reading all would give`() throws {
        let ca = MadeReceipt.ca
        let foreign = ca.unfit.foreignReceipts
        let parts = [
            MadeReceipt.signer.certificate, MadeReceipt.intermediate.certificate, ca.receiptRoot,
            foreign.signer(at: MadeReceipt.time).certificate, foreign.intermediate.certificate, ca.attestationRoot,
        ]
        var warm = ReceiptSigners(roots: MadeReceipt.roots)
        for number in 0..<216 {
            var receipt = MadeReceipt()
            receipt.certificates = [number % 6, number / 6 % 6, number / 36].map { parts[$0] }
            let bytes = receipt.bytes
            let expected = try WholeReading.refusal(bytes, roots: MadeReceipt.roots)
            #expect(Self.refusal(&warm, bytes) == expected, "\(number)")
        }
        #expect(warm.count == 1)
    }

    /// A chain that the root issued and that is unfit; all but the first have a spelling that is refused unread.
    private struct UnfitChain: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let chain: SignerChain
        var isRead = false

        static let all: [UnfitChain] = {
            let unfit = MadeReceipt.ca.unfit.receiptSigners
            return [
                UnfitChain(testDescription: "no authority", chain: unfit["intermediate-not-ca"], isRead: true),
                UnfitChain(testDescription: "constraints", chain: unfit["intermediate-name-constraints"]),
                UnfitChain(testDescription: "loose", chain: unfit["intermediate-loose-ca"]),
                UnfitChain(testDescription: "policies", chain: unfit["signer-critical-policies"]),
            ]
        }()
    }

    private static func receipt(_ chain: SignerChain, _ certificates: [[UInt8]]) -> [UInt8] {
        var receipt = MadeReceipt()
        receipt.certificates = certificates
        receipt.signerID = DER.sequence(MadeReceipt.intermediate.name, MadeReceipt.serial(chain.signer))
        return receipt.bytes
    }

    @Test(arguments: UnfitChain.all)
    private func `an unfit pair is read once and has its reason in every list`(_ unfit: UnfitChain) throws {
        let chain = unfit.chain
        let (signer, intermediate) = (chain.certificates[0], chain.certificates[1])
        let (root, foreign) = (chain.certificates[2], MadeReceipt.ca.unfit.foreignReceipts.root.certificate)
        var warm = ReceiptSigners(roots: MadeReceipt.roots)
        let lists = [
            [signer, intermediate, root], [root, intermediate, signer], [signer, intermediate], [signer, root],
            [signer, intermediate, root, root], [signer, intermediate, foreign], [signer, intermediate, [0x30, 0x00]],
            [signer, intermediate, intermediate],
        ]
        for certificates in lists + lists {
            let bytes = Self.receipt(chain, certificates)
            var cold = ReceiptSigners(roots: MadeReceipt.roots)
            let expected = try #require(Self.refusal(&cold, bytes))
            #expect(Self.refusal(&warm, bytes) == expected, "\(certificates.count)")
            #expect(warm.unfitCount == (unfit.isRead ? 1 : 0))
        }
        let bytes = Self.receipt(chain, chain.certificates)
        let expected = try WholeReading.refusal(bytes, roots: MadeReceipt.roots)
        #expect(expected != nil)
        #expect(Self.refusal(&warm, bytes) == expected)
        #expect(Self.refusal(&warm, MadeReceipt().bytes) == nil)
    }

    @Test func `what no root issued is not remembered as unfit`() throws {
        let unfit = MadeReceipt.ca.unfit.receiptSigners
        let foreign = MadeReceipt.ca.unfit.foreignReceipts
        var signers = ReceiptSigners(roots: MadeReceipt.roots)
        for chain in [unfit["signer-signature-flipped"], unfit["intermediate-of-foreign-root"]] {
            #expect(Self.refusal(&signers, Self.receipt(chain, chain.certificates)) == .chain)
        }
        var receipt = MadeReceipt()
        receipt.certificates[1] = foreign.intermediate.certificate
        #expect(Self.refusal(&signers, receipt.bytes) == .chain)
        #expect(signers.unfitCount == 0)
    }

    @Test(arguments: [TestAuthority.intermediate, TestAuthority.p256])
    func `a damaged intermediate has the reason that reading it would give`(_ der: [UInt8]) throws {
        let root = try #require(CACertificate(der: TestAuthority.root))
        var trusted = TrustedIntermediates(roots: [root])
        var reasons: [Refusal: Int] = [:]
        let bitStrings: [[UInt8]] = [[0x03, 0x62, 0x00, 0x04], [0x03, 0x42, 0x00, 0x04]]
        let point = try #require(bitStrings.compactMap { der.firstRange(of: $0) }.first).upperBound - 1
        for damaged in Self.flips(der, step: 1) {
            // OpenSSL reads hybrid points, and points that end amid an octet, which RFC 5480 does not know.
            let isReadable =
                damaged[(point - 1)...point] == [0x00, 0x04] && CACertificate(der: damaged)?.key != nil
                && (try? CertificateExtensions.judge(damaged)) != nil
            let expected: Refusal = isReadable ? .chain : .badCertificate
            #expect(throws: expected) { try trusted.trusted(damaged.indices, damaged.span) }
            reasons[expected, default: 0] += 1
        }
        #expect(reasons[.chain, default: 0] > 100)
        #expect(reasons[.badCertificate, default: 0] > 30)
        #expect(trusted.count == 0)
    }

    /// Named as the intermediate is, with 1,000 names of two bytes in an extension.
    private static let ofManyParts: [UInt8] = {
        let names = DER.sequence((0..<1_000).flatMap { _ in [0x82, 0x00] as [UInt8] })
        let extensions = DER.sequence(DER.sequence([0x06, 0x03, 0x55, 0x1D, 0x11], DER.octets(names)))
        let signedPart = DER.sequence(
            DER.element([0xA0], [0x02, 0x01, 0x02]),
            [0x02, 0x01, 0x01],
            MadeLeaf.ecdsaWithSHA256,
            MadeReceipt.ca.receipts.root.name,
            DER.sequence(),
            MadeReceipt.intermediate.name,
            DER.sequence(),
            DER.element([0xA3], extensions)
        )
        return DER.sequence(signedPart, MadeLeaf.ecdsaWithSHA256, DER.bits([0x30, 0x00]))
    }()

    /// Of a certificate of so many parts that reading it costs more than all else, nothing is read but its walk.
    @Test func `a stranger of very many parts is refused for its chain`() throws {
        var receipt = MadeReceipt()
        receipt.certificates[1] = Self.ofManyParts
        let bytes = receipt.bytes
        let container = try ReceiptContainer(bytes.span)
        let shape = try CertificateShape(container.certificates[1], bytes.span)
        guard case .notRead = shape.reading(bytes.span) else {
            Issue.record("it is read")
            return
        }
        var signers = ReceiptSigners(roots: MadeReceipt.roots)
        #expect(Self.refusal(&signers, bytes) == .chain)
    }

    @Test(.enabled(if: Vectors.arePresent, Vectors.absence), arguments: Vectors.real(.receipt))
    func `Apple's certificates have few parts`(_ vector: RealVector) throws {
        let bytes = vector.objectBytes
        for range in try ReceiptContainer(bytes.span).certificates {
            let shape = try CertificateShape(range, bytes.span)
            guard case .facts = shape.reading(bytes.span) else {
                Issue.record("\(range) is not read")
                continue
            }
        }
    }

    private static func refusal(_ signers: inout ReceiptSigners, _ bytes: [UInt8]) -> ReceiptRefusal? {
        do throws(ReceiptRefusal) {
            _ = try signers.trusted(ReceiptContainer(bytes.span), bytes.span)
            return nil
        } catch {
            return error
        }
    }
}

/// The chain's rules by OpenSSL alone: every certificate is read before any is judged.
private enum WholeReading {
    static func refusal(_ bytes: [UInt8], roots: [CACertificate]) throws -> ReceiptRefusal? {
        let container = try ReceiptContainer(bytes.span)
        var list: [CACertificate] = []
        for range in container.certificates {
            let der = Array(bytes[range])
            guard range.count <= 4096, let certificate = CACertificate(der: der),
                (try? CertificateExtensions.judge(der)) != nil
            else { return .badCertificate }
            list.append(certificate)
        }
        let id = Array(bytes[container.signerID])
        let named = list.indices.filter { list[$0].issuer + list[$0].serial == id }
        guard named.count == 1 else { return .chain }
        let signer = list.remove(at: named[0])
        guard signer.hasExtension(ReceiptSigners.marker), !signer.isCA, signer.maySign, case .p256 = signer.key else {
            return .badCertificate
        }
        let issuers = list.filter { $0.subject == signer.issuer }
        guard issuers.count == 1, let issuer = issuers.first, issuer.isCA, issuer.mayCertSign else { return .chain }
        let issuing = roots.filter { root in
            root.der == issuer.der
                || (root.subject == issuer.issuer && root.pathLength != 0 && issuer.isSigned(by: root))
        }
        let areVouched = list.allSatisfy { other in
            other === issuer || issuing.contains { $0.der == other.der }
        }
        return !issuing.isEmpty && signer.isSigned(by: issuer) && areVouched ? nil : .chain
    }
}
