import Crypto
import TestKit

@testable import AppAttest

/// A leaf certificate part by part, right unless a test changes it. It has no real signature: the tests that use it
/// answer the signature check themselves.
struct MadeLeaf {
    static let ecdsaWithSHA256 = AlgorithmIdentifier.ecdsaWithSHA256
    static let ecdsaWithSHA384 = Array(ecdsaWithSHA256.dropLast()) + [0x03]
    /// P-256's base point, a valid key that anyone knows.
    static let basePoint = WycheproofVectors.bytes(
        hex: "046B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296"
            + "4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5"
    )

    static let baseKey = P256PublicKey(x963: basePoint.span)

    static let basicConstraints = ext([0x55, 0x1D, 0x13], critical: true, [0x30, 0x00])
    static let keyUsage = ext([0x55, 0x1D, 0x0F], critical: true, [0x03, 0x02, 0x04, 0xF0])

    var version = DER.explicit(0, [0x02, 0x01, 0x02])
    var serial = DER.integer([0x01, 0x74, 0x82])
    var innerAlgorithm = ecdsaWithSHA256
    var outerAlgorithm = ecdsaWithSHA256
    var issuer = TestAuthority.intermediateName
    var validity = DER.sequence(utc("261201000000Z"), utc("261204000000Z"))
    var subject = DER.sequence()
    var keyInfo = DER.sequence(AlgorithmIdentifier.p256, DER.bits(basePoint))
    var extensions: [[UInt8]] = [basicConstraints, keyUsage]
    /// Written instead of the extensions' [3].
    var extensionField: [UInt8]?
    var signature = DER.bits(DER.sequence(DER.integer([1]), DER.integer([1])))
    var afterSignature: [UInt8] = []

    var der: [UInt8] {
        let field = extensionField ?? DER.explicit(3, DER.element([0x30], extensions.flatMap { $0 }))
        let signed = DER.sequence(version + serial + innerAlgorithm + issuer + validity + subject + keyInfo + field)
        return DER.sequence(signed, outerAlgorithm, signature, afterSignature)
    }

    static func utc(_ text: String) -> [UInt8] { DER.element([0x17], Array(text.utf8)) }

    static func ext(_ identifier: [UInt8], critical: Bool = false, _ value: [UInt8]) -> [UInt8] {
        DER.sequence(DER.oid(identifier), critical ? [0x01, 0x01, 0xFF] : [], DER.octets(value))
    }

    /// One of Apple's, 1.2.840.113635.100.8.x.
    static func apple(_ last: UInt8, critical: Bool = false, _ value: [UInt8]) -> [UInt8] {
        ext(ObjectIdentifier.appleAttestation + [last], critical: critical, value)
    }

    static func nonce(_ digest: Digest) -> [UInt8] { apple(2, [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20] + digest.bytes) }
}

/// An attestation part by part, right unless a test changes it.
struct MadeAttestation {
    static let appID = AppID("ABCDE12345.com.example.app")
    static let clientDataHash = SHA256.hash(Array("challenge".utf8)).bytes
    static let keyID = KeyID(SHA256.hash(MadeLeaf.basePoint))
    /// Within the leaf's three days.
    static let time = EvaluationTime(milliseconds: 1_796_169_600_000)

    static let development = Array("appattestdevelop".utf8)
    static let production = Array("appattest".utf8) + [0, 0, 0, 0, 0, 0, 0]

    var leaf = MadeLeaf()
    var addsNonce = true
    var intermediate = TestAuthority.intermediate

    var rpIDHash = appID.rpIDHash.bytes
    var flags: UInt8 = 0x40
    var counter: [UInt8] = [0, 0, 0, 0]
    var aaguid = production
    var credentialIDLength: [UInt8] = [0x00, 0x20]
    var credentialID = keyID.bytes
    var coseKey: [UInt8] =
        [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + MadeLeaf.basePoint[1..<33]
        + [0x22, 0x58, 0x20] + MadeLeaf.basePoint[33..<65]
    var rest: [UInt8] = []
    /// Only so many bytes of the authenticator data.
    var authDataLength: Int?

    var format = CBORText.text("apple-appattest")
    var chain: [[UInt8]]?
    var receipt: [UInt8]?
    var moreMembers: [(String, [UInt8])] = []

    var authData: [UInt8] {
        let whole = rpIDHash + [flags] + counter + aaguid + credentialIDLength + credentialID + coseKey + rest
        return Array(whole.prefix(authDataLength ?? whole.count))
    }

    var object: [UInt8] {
        var leaf = leaf
        if addsNonce {
            leaf.extensions.append(MadeLeaf.nonce(SHA256.hash(authData + Self.clientDataHash)))
        }
        let chain = chain ?? [CBORText.bytes(leaf.der), CBORText.bytes(intermediate)]
        var statement = [("x5c", CBORText.array(chain))]
        if let receipt { statement.append(("receipt", receipt)) }
        return CBORText.map(
            [("fmt", format), ("attStmt", CBORText.map(statement)), ("authData", CBORText.bytes(authData))]
                + moreMembers
        )
    }

    /// The verdict if every open signature gets `answer`.
    func verdict(
        _ expectations: Expectations = Expectations(appIDs: [appID]),
        roots: [[UInt8]] = [TestAuthority.root],
        clientDataHash: [UInt8] = clientDataHash,
        keyID: KeyID = keyID,
        at time: EvaluationTime = time,
        answer: Bool = true
    ) throws -> Result<AttestationEvidence, Refusal> {
        let anchors = try TrustAnchors(attestationPEM: roots, receiptPEM: [])
        let prepared = ObjectVerifier(anchors: anchors).prepareAttestation(
            object,
            clientDataHash: clientDataHash,
            keyID: keyID,
            expectations: expectations,
            at: time
        )
        return prepared.conclude(prepared.checks.map { _ in answer })
    }
}

extension Result where Failure == Refusal {
    /// `valid` or the reason's code, for comparing verdicts.
    var code: String {
        switch self {
        case .success: "valid"
        case .failure(let refusal): refusal.code
        }
    }
}
