import AppAttest
import Crypto
import TestKit
import Testing

@Suite(.enabled(if: Vectors.arePresent, Vectors.absence)) struct RealAttestationTests {
    @Test(arguments: Vectors.real(.attestation))
    func `Apple's attestations are valid as of their time`(_ vector: RealVector) throws {
        let verdict = try vector.preparedAttestation(by: Vectors.appleVerifier()).verified(by: OpenSSLEngine())
        let evidence = try verdict.get()
        #expect(vector.expected == "valid")
        #expect(evidence.appID.text == vector.appID)
        #expect(evidence.environment.rawValue == vector.environment)
        #expect(evidence.publicKey == (try vector.key()))
        #expect(evidence.leafNotBefore == vector.leafNotBeforeTime)
        #expect(evidence.leafNotAfter == vector.leafNotAfterTime)
        #expect(evidence.osVersion != nil)
        let receipt = evidence.receipt.map { $0.refusal.map { "receipt:\($0.rawValue)" } ?? "valid" }
        if let receipt { #expect(receipt == vector.receiptExpected ?? "valid") }
        #expect((receipt == nil) == Self.withoutReceipt.contains(vector.name))
    }

    /// Their publishers removed the receipt.
    private static let withoutReceipt = ["att-macosx27.0-prod-hellas-81bc52.json"]

    @Test(arguments: Vectors.real(.attestation))
    func `each wrong argument gives its reason`(_ vector: RealVector) throws {
        let verifier = try Vectors.appleVerifier()
        let engine = AnsweringEngine(true)
        func code(_ prepared: Prepared<AttestationEvidence>) -> String { prepared.verified(by: engine).code }

        #expect(code(try vector.preparedAttestation(by: verifier)) == "valid")
        #expect(
            code(try vector.preparedAttestation(by: verifier, { $0.appIDs = [AppID("X.y")] })) == "app-id-mismatch"
        )
        let otherKey = KeyID(SHA256.hash([0]))
        #expect(code(try vector.preparedAttestation(by: verifier, keyID: otherKey)) == "keyid-mismatch")
        let otherHash = SHA256.hash([0]).bytes
        #expect(code(try vector.preparedAttestation(by: verifier, clientDataHash: otherHash)) == "nonce-mismatch")
        #expect(
            code(
                try vector.preparedAttestation(by: verifier) {
                    $0.environments = $0.environments == [.production] ? [.development] : [.production]
                }
            ) == "environment-mismatch"
        )
        let (from, to) = (try #require(vector.leafNotBeforeTime), try #require(vector.leafNotAfterTime))
        for (time, expected) in [
            (from.milliseconds - 1, "expired-or-not-yet-valid:leaf"), (from.milliseconds, "valid"),
            (to.milliseconds, "valid"), (to.milliseconds + 1, "expired-or-not-yet-valid:leaf"),
        ] {
            let time = EvaluationTime(milliseconds: time)
            #expect(code(try vector.preparedAttestation(by: verifier, at: time)) == expected)
        }
    }

    @Test(arguments: Vectors.real(.attestation))
    func `the receipt's policy decides what its verdict does`(_ vector: RealVector) throws {
        let verifier = try Vectors.appleVerifier()
        let engine = OpenSSLEngine()
        let reported = try vector.preparedAttestation(by: verifier).verified(by: engine).get().receipt
        let required = try vector.preparedAttestation(by: verifier) { $0.receipt = .require }.verified(by: engine)
        switch reported {
        case nil: #expect(required.code == "receipt:missing")
        case let receipt?: #expect(required.code == receipt.refusal.map { "receipt:\($0.rawValue)" } ?? "valid")
        }
        let ignored = try vector.preparedAttestation(by: verifier) { $0.receipt = .ignore }
        #expect(ignored.checks.count == 1)
        #expect(try ignored.verified(by: engine).get().receipt == nil)
    }

    @Test func `with another root none of them is trusted`() throws {
        let anchors = try TrustAnchors(attestationPEM: [Vectors.appleReceiptRoot], receiptPEM: [])
        let verifier = ObjectVerifier(anchors: anchors)
        for vector in Vectors.real(.attestation) {
            #expect(try vector.preparedAttestation(by: verifier).conclude([]).code == "chain")
        }
    }

    @Test func `caches change no verdict`() throws {
        let shared = try Vectors.appleVerifier()
        let engine = OpenSSLEngine()
        for vector in Vectors.real(.attestation).prefix(8) {
            let fresh = try vector.preparedAttestation(by: Vectors.appleVerifier()).verified(by: engine)
            #expect(try vector.preparedAttestation(by: shared).verified(by: engine) == fresh)
            #expect(try vector.preparedAttestation(by: shared).verified(by: engine) == fresh)
        }
    }

    @Test func `values that devices report become evidence`() throws {
        let cases: [(String, UInt32?, String?, String?, String)] = [
            ("att-ios14.0-dev-veehaitch-5648b8.json", nil, nil, nil, "14.0"),
            ("att-ios27.0.1-dev-ricardo-0fefb3.json", 3, "1314", "iphoneos", "27.0.1 (24A446)"),
            ("att-ios27.0-prod-apple-ce0498.json", 1, "1", "iphoneos", "27.0 (24A325b)"),
            // Its publisher took away the receipt, and ED is clear: nothing says that the map is the device's.
            ("att-macosx27.0-prod-hellas-81bc52.json", nil, nil, "macosx", "27.0 (26A5378n)"),
        ]
        for (name, category, bundleVersion, platform, osVersion) in cases {
            let vector = try #require(Vectors.named(name))
            let prepared = try vector.preparedAttestation(by: Vectors.appleVerifier())
            let evidence = try prepared.verified(by: OpenSSLEngine()).get()
            #expect(evidence.validationCategory == category)
            #expect(evidence.bundleVersion?.shown == bundleVersion)
            #expect(evidence.platform?.shown == platform)
            #expect(evidence.osVersion?.shown == osVersion)
            #expect(evidence.ignoresExtensions == name.contains("hellas"))
        }
    }
}
