import AppAttest
import Crypto
import TestKit
import Testing

extension Vectors {
    static let appleAnchors = Result {
        try TrustAnchors(attestationPEM: [appleAttestationRoot], receiptPEM: [appleReceiptRoot])
    }

    static func appleVerifier() throws -> ObjectVerifier { ObjectVerifier(anchors: try appleAnchors.get()) }
}

extension RealVector {
    /// The App ID, or its hash where the App ID was not published.
    var matchingAppID: AppID? {
        appID.map { AppID($0) } ?? rpIDHashBytes.flatMap { Digest($0) }.map { AppID(unnamed: $0) }
    }

    /// Expectations that fit the vector.
    func expectations() throws -> Expectations {
        // Assertions do not carry their environment, and for some it is unknown.
        let environment = environment.flatMap { Environment(rawValue: $0) }
        let environments = environment.map { [$0] } ?? Environment.allCases
        return Expectations(appIDs: [try #require(matchingAppID)], environments: Set(environments))
    }

    func keyID() throws -> KeyID { KeyID(try #require(keyIDBytes.flatMap { Digest($0) })) }

    func key() throws -> P256PublicKey {
        let bytes = try #require(publicKeyBytes)
        let key = P256PublicKey(x963: bytes.span)
        return try #require(key)
    }

    /// The hash that an assertion's signature covers: as given, else the client data's.
    func assertionHash() throws -> [UInt8] {
        try clientDataHashBytes ?? SHA256.hash(try #require(clientDataBytes)).bytes
    }

    func preparedAttestation(
        by verifier: ObjectVerifier,
        _ change: (inout Expectations) -> Void = { _ in },
        object: [UInt8]? = nil,
        keyID: KeyID? = nil,
        clientDataHash: [UInt8]? = nil,
        at time: EvaluationTime? = nil
    ) throws -> Prepared<AttestationEvidence> {
        var expectations = try expectations()
        change(&expectations)
        return verifier.prepareAttestation(
            object ?? objectBytes,
            clientDataHash: try clientDataHash ?? #require(clientDataHashBytes),
            keyID: try keyID ?? self.keyID(),
            expectations: expectations,
            at: time ?? validAtTime
        )
    }

    func preparedAssertion(
        by verifier: ObjectVerifier,
        _ change: (inout Expectations) -> Void = { _ in },
        object: [UInt8]? = nil,
        key: P256PublicKey? = nil,
        clientDataHash: [UInt8]? = nil
    ) throws -> Prepared<AssertionEvidence> {
        var expectations = try expectations()
        change(&expectations)
        return verifier.prepareAssertion(
            object ?? objectBytes,
            clientDataHash: try clientDataHash ?? assertionHash(),
            key: try key ?? self.key(),
            expectations: expectations
        )
    }
}

/// Gives every signature the same answer, for the checks that come after the signatures.
final class AnsweringEngine: SignatureEngine {
    private let answer: Bool

    init(_ answer: Bool) { self.answer = answer }

    func verify(_ checks: [SignatureCheck]) -> [Bool] { checks.map { _ in answer } }
}

@Suite struct RealVectorTests {
    @Test(.enabled(if: Vectors.arePresent, Vectors.absence)) func `all 149 real vectors are here`() {
        #expect(Vectors.real.count == Vectors.expectedCount)
        #expect(Vectors.real(.attestation).count == 46)
        #expect(Vectors.real(.assertion).count == 34)
        #expect(Vectors.real(.receipt).count == 69)
        #expect(Vectors.real(.receipt).count { $0.expected == "receipt:signature" } == 16)
    }
}
