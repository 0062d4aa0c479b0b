import Crypto
import TestKit
import Testing

@testable import AppAttest

/// Every truncation and every flipped bit of real objects: nothing is accepted that should not be, nothing traps.
@Suite(.enabled(if: Vectors.arePresent, Vectors.absence)) struct HostileBytesTests {
    private static let assertions = [
        "ast-ios14.0-veehaitch-15deb5.json", "ast-ricardo-ios27.0.1.json", "ast-hellas-macos27.json",
        "ast-ping-macos27.2-1.json",
    ].compactMap { Vectors.named($0) }

    private static let attestations = [
        "att-ios14.4-dev-bas-d-01c3ff.json", "att-ios27.0.1-dev-ricardo-0fefb3.json",
        "att-macosx27.0-prod-hellas-81bc52.json",
    ].compactMap { Vectors.named($0) }

    @Test(arguments: assertions) func `a changed assertion is refused`(_ vector: RealVector) throws {
        let verifier = try Vectors.appleVerifier()
        let genuine = try vector.preparedAssertion(by: verifier)
        #expect(genuine.verified(by: OpenSSLEngine()).code == "valid")
        let engine = GenuineEngine(genuine.checks)
        for changed in Self.changes(of: vector.objectBytes) {
            let prepared = try vector.preparedAssertion(by: verifier, object: changed)
            let code = prepared.verified(by: engine).code
            #expect(code == "malformed-assertion" || code == "signature-invalid")
        }
    }

    /// The receipt's bytes are not changed here: with receipts ignored nothing depends on them.
    @Test(arguments: attestations) func `a changed attestation is refused`(_ vector: RealVector) throws {
        let verifier = try Vectors.appleVerifier()
        func prepared(_ object: [UInt8]) throws -> Prepared<AttestationEvidence> {
            try vector.preparedAttestation(by: verifier, { $0.receipt = .ignore }, object: object)
        }
        let bytes = vector.objectBytes
        let parts = try AttestationObject(bytes.span, limits: .default)
        let genuine = try prepared(bytes)
        #expect(genuine.verified(by: OpenSSLEngine()).code == "valid")
        let engine = GenuineEngine(genuine.checks)
        let receipt = parts.receipt ?? 0..<0
        // The member's name and head lie before its value: under another name it is not a receipt.
        let receiptMember = max(0, receipt.lowerBound - 11)..<receipt.upperBound
        for index in bytes.indices where !receipt.contains(index) {
            // A changed intermediate costs an OpenSSL parser and a P-384 verification: one bit of some bytes will do.
            let isIntermediate = parts.certificates[1].contains(index)
            if isIntermediate, index % 16 != 0 { continue }
            for bit in 0..<8 where !isIntermediate || bit == index / 16 % 8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                let code = try prepared(changed).verified(by: engine).code
                #expect(code != "valid" || receiptMember.contains(index), "bit \(bit) of byte \(index)")
            }
        }
        for length in bytes.indices {
            #expect(try prepared(Array(bytes.prefix(length))).conclude([]).code == "malformed-attestation")
        }
    }

    /// With a receipt required, no changed byte of it goes unnoticed.
    @Test(arguments: attestations.prefix(2))
    func `a changed receipt is refused if one is required`(_ vector: RealVector) throws {
        let verifier = try Vectors.appleVerifier()
        func prepared(_ object: [UInt8]) throws -> Prepared<AttestationEvidence> {
            try vector.preparedAttestation(by: verifier, { $0.receipt = .require }, object: object)
        }
        let bytes = vector.objectBytes
        let genuine = try prepared(bytes)
        var checks = genuine.checks
        if case .open(let rest) = genuine.advance(genuine.checks.map { _ in true }) { checks += rest.checks }
        let engine = GenuineEngine(checks)
        #expect(genuine.verified(by: engine).code == "valid")
        let parts = try AttestationObject(bytes.span, limits: .default)
        let receipt = try #require(parts.receipt)
        for index in (receipt.lowerBound - 11)..<receipt.upperBound where index % 3 == 0 {
            var changed = bytes
            changed[index] ^= 1 << (index / 3 % 8)
            #expect(try prepared(changed).verified(by: engine).code != "valid", "byte \(index)")
        }
    }

    @Test(arguments: attestations) func `an attestation whose signatures fail is refused`(_ vector: RealVector) throws {
        let prepared = try vector.preparedAttestation(by: Vectors.appleVerifier())
        #expect(prepared.conclude(prepared.checks.map { _ in false }).code == "chain")
    }

    /// All single-bit flips, bit by bit from the start, then all truncations.
    private static func changes(of bytes: [UInt8]) -> some Sequence<[UInt8]> {
        let flips = (0..<(bytes.count * 8)).lazy.map { bit in
            var changed = bytes
            changed[bit / 8] ^= 0x80 >> UInt8(bit % 8)
            return changed
        }
        let cuts = (0..<bytes.count).lazy.map { Array(bytes.prefix($0)) }
        return [AnySequence(flips), AnySequence(cuts)].joined()
    }
}

/// Accepts only the untouched object's signatures, as a real engine does, but at no cost.
private final class GenuineEngine: SignatureEngine {
    private let genuine: Set<String>

    init(_ checks: [SignatureCheck]) { genuine = Set(checks.map(Self.identity)) }

    func verify(_ checks: [SignatureCheck]) -> [Bool] { checks.map { genuine.contains(Self.identity($0)) } }

    private static func identity(_ check: SignatureCheck) -> String {
        switch check {
        case .p256(let key, let digest, let signature):
            "\(key.x963)\(digest.bytes)\(signature.r.bytes)\(signature.s.bytes)"
        case .p384(let key, let digest, let signature):
            "\(key.x963)\(digest.bytes)\(signature)"
        }
    }
}
