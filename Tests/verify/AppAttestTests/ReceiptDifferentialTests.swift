import Crypto
import DeviceLab
import TestKit
import Testing

@testable import AppAttest

/// Our reading of receipts against OpenSSL's CMS, on Apple's receipts and on altered copies of them.
@Suite(.enabled(if: Vectors.arePresent, Vectors.absence)) struct ReceiptDifferentialTests {
    private static let roots = CACertificate.readPEM(Vectors.appleReceiptRoot)

    /// One receipt of each shape: BER and DER, ATTEST and RECEIPT, with and without signed attributes.
    private static let samples =
        [
            "receipt-attest-ios17.5.1-20240628-3b744d.json", "receipt-receipt-ios14.0-20200902-81b887.json",
            "receipt-receipt-ios14.4-20210123-b0d936.json",
        ].compactMap { Vectors.named($0) }
        + Vectors.real(.receipt).filter { $0.objectBytes.starts(with: [0x30, 0x82]) }

    /// Whether everything up to the signature holds, whatever the content says.
    private static func isSigned(
        _ bytes: [UInt8],
        _ verifier: ReceiptVerifier,
        at time: EvaluationTime
    ) throws -> Bool {
        // These expectations refuse any content, so the reason shows how far verification got.
        let nothing = ReceiptExpectations(appIDs: [], environments: [])
        let prepared = verifier.prepareReceipt(bytes, expectations: nothing, at: time, NoTrace())
        switch try prepared.verified(by: OpenSSLEngine()).get().refusal {
        case .missing, .malformed, .badCertificate, .chain, .expiredOrNotYetValid, .signature: return false
        default: return true
        }
    }

    @Test(arguments: Vectors.real(.receipt))
    func `on Apple's receipts both agree, content included`(_ vector: RealVector) throws {
        let bytes = vector.objectBytes
        let content = CMS.verifiedContent(bytes, roots: Self.roots)
        #expect((content != nil) == (vector.expected == "valid"))
        #expect(
            try Self.isSigned(bytes, ReceiptVerifier(roots: Self.roots), at: vector.validAtTime) == (content != nil)
        )
        if let content { #expect(try ReceiptContainer(bytes.span).content == content) }
    }

    @Test(arguments: samples) func `no truncation is accepted`(_ vector: RealVector) throws {
        let verifier = ReceiptVerifier(roots: Self.roots)
        let bytes = vector.objectBytes
        let nothing = ReceiptExpectations(appIDs: [], environments: [])
        for count in 0..<bytes.count {
            let cut = Array(bytes.prefix(count))
            let prepared = verifier.prepareReceipt(cut, expectations: nothing, at: vector.validAtTime, NoTrace())
            #expect(prepared.checks.isEmpty)
            #expect(try prepared.conclude([]).get().refusal == .malformed, "\(count) bytes")
        }
        for tail in [[0x00], [0x00, 0x00], [0x30], bytes] as [[UInt8]] {
            #expect(try !Self.isSigned(bytes + tail, verifier, at: vector.validAtTime))
        }
    }

    /// Every byte is covered: each flip in a receipt is refused, the certificate of the root included.
    @Test(arguments: samples) func `no flipped bit is accepted`(_ vector: RealVector) throws {
        let verifier = ReceiptVerifier(roots: Self.roots)
        let bytes = vector.objectBytes
        // Each flip inside a certificate costs a chain: all bytes of the first sample, some of the others.
        let step = vector.name == Self.samples.first?.name ? 1 : 5
        for index in stride(from: 0, to: bytes.count, by: step) {
            var changed = bytes
            changed[index] ^= 1 << UInt8((index * 5 + 3) % 8)
            #expect(try !Self.isSigned(changed, verifier, at: vector.validAtTime), "byte \(index)")
        }
    }

    @Test(arguments: samples.prefix(1), 0..<8 as Range<UInt8>)
    func `no bit of the container itself may be flipped`(_ vector: RealVector, bit: UInt8) throws {
        let verifier = ReceiptVerifier(roots: Self.roots)
        let bytes = vector.objectBytes
        let container = try ReceiptContainer(bytes.span)
        let inside = container.certificates.reduce(into: Set<Int>()) { $0.formUnion($1) }
        for index in bytes.indices where !inside.contains(index) && !(60..<1150).contains(index) {
            var changed = bytes
            changed[index] ^= 1 << bit
            #expect(try !Self.isSigned(changed, verifier, at: vector.validAtTime), "byte \(index)")
        }
    }

    @Test(arguments: samples) func `a receipt that OpenSSL refuses is refused here`(_ vector: RealVector) throws {
        let verifier = ReceiptVerifier(roots: Self.roots)
        let bytes = vector.objectBytes
        var random = SeededRandom(seed: UInt64(bytes.count))
        var accepted = 0
        for _ in 0..<250 {
            var changed = bytes
            let index = Int.random(in: changed.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: changed[index] = UInt8(truncatingIfNeeded: random.next())
            case 1: changed.remove(at: index)
            case 2: changed.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
            default: changed.replaceSubrange(index..<min(index + 4, changed.count), with: [0, 0])
            }
            let isLaxlyValid = CMS.verifiedContent(changed, roots: Self.roots) != nil
            let isValid = try Self.isSigned(changed, verifier, at: vector.validAtTime)
            #expect(!isValid || isLaxlyValid)
            if isValid { accepted += 1 }
        }
        // Sometimes a byte is overwritten with its own value; more acceptances would mean that some bytes are not covered.
        #expect(accepted < 10)
    }

    /// The signer's own certificate: our P-256 path against OpenSSL's EVP, single faults included.
    @Test func `both verify a certificate's signature alike`() throws {
        let bytes = try #require(Self.samples.first).objectBytes
        let container = try ReceiptContainer(bytes.span)
        let der = container.certificates.map { Array(bytes[$0]) }
        let issuer = try #require(CACertificate(der: der[1]))
        guard case .p256(let key) = issuer.key else {
            Issue.record("Apple's intermediate has a P-256 key")
            return
        }
        let engine = OpenSSLEngine()
        var outcomes = Set<Bool>()
        for index in -1..<der[0].count {
            var changed = der[0]
            if index >= 0 { changed[index] ^= 1 << UInt8(index % 8) }
            guard let certificate = CACertificate(der: changed),
                let leaf = try? LeafCertificate(changed.indices, changed.span)
            else { continue }
            let expected = certificate.isSigned(by: issuer)
            let shape = try CertificateShape(changed.indices, changed.span)
            #expect(shape.isRefused(by: .p256(key), changed.span) == !expected, "byte \(index)")
            let digest = SHA256.hash(changed.span.extracting(leaf.signedPart))
            let signature = P256Signature(strictDER: changed.span.extracting(leaf.signature))
            let answer = signature.map { engine.isValid(.p256(key: key, digest: digest, signature: $0)) } ?? false
            #expect(answer == expected, "byte \(index)")
            outcomes.insert(answer)
        }
        #expect(outcomes == [true, false])
    }
}
