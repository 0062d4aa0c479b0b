import AppAttest
import Crypto
import TestKit
import Testing

extension RealVector {
    /// The known facts that the vector's receipt must match.
    func receiptExpectations() throws -> ReceiptExpectations {
        let environment = try #require(environment.flatMap { Environment(rawValue: $0) })
        var expectations = ReceiptExpectations(appIDs: [AppID(try #require(appID))], environments: [environment])
        expectations.type = receiptType.flatMap { ReceiptType(rawValue: $0) }
        expectations.publicKey = try key()
        expectations.clientDataHash = clientDataHashBytes
        expectations.maxAgeSeconds = 300
        return expectations
    }

    func preparedReceipt(
        by verifier: ObjectVerifier,
        after milliseconds: Int64 = 0,
        _ change: (inout ReceiptExpectations) throws -> Void = { _ in }
    ) throws -> Prepared<ReceiptVerdict> {
        var expectations = try receiptExpectations()
        try change(&expectations)
        let time = EvaluationTime(milliseconds: validAtTime.milliseconds + milliseconds)
        return verifier.prepareReceipt(objectBytes, expectations: expectations, at: time)
    }
}

extension Prepared<ReceiptVerdict> {
    /// The receipt's reason, or `valid`.
    func receiptCode(by engine: any SignatureEngine = OpenSSLEngine()) throws -> String {
        try verified(by: engine).get().refusal.map { "receipt:\($0.rawValue)" } ?? "valid"
    }
}

@Suite(.enabled(if: Vectors.arePresent, Vectors.absence)) struct ReceiptRealTests {
    @Test(arguments: Vectors.real(.receipt))
    func `Apple's receipts get their known verdicts`(_ vector: RealVector) throws {
        let prepared = try vector.preparedReceipt(by: Vectors.appleVerifier())
        #expect(try prepared.receiptCode() == vector.expected)
        let verdict = try prepared.verified(by: OpenSSLEngine()).get()
        #expect(verdict.type?.rawValue == vector.receiptType)
        #expect(verdict.createdAt == vector.createdTime)
        #expect(verdict.notBefore == vector.notBeforeTime)
        #expect(verdict.expiresAt == vector.expiresTime)
        #expect(verdict.riskMetric == vector.riskMetric.map { ExactText(String($0)) })
        // A receipt whose signature fails is refused.
        if !prepared.checks.isEmpty { #expect(try prepared.conclude([false]).get().refusal == .signature) }
    }

    @Test(arguments: Vectors.real(.receipt).filter { $0.expected == "valid" })
    func `each wrong expectation gives its reason`(_ vector: RealVector) throws {
        let verifier = try Vectors.appleVerifier()
        func code(_ time: Int64 = 0, _ change: (inout ReceiptExpectations) throws -> Void = { _ in }) throws -> String {
            try vector.preparedReceipt(by: verifier, after: time, change).receiptCode()
        }
        #expect(try code() == "valid")
        #expect(try code { $0.type = vector.receiptType == "ATTEST" ? .receipt : .attest } == "receipt:type")
        #expect(try code { $0.appIDs = [] } == "receipt:app-id-mismatch")
        #expect(try code { $0.appIDs.insert(AppID("X.y"), at: 0) } == "valid")
        #expect(
            try code { $0.environments.remove(try #require($0.environments.first)) } == "receipt:environment-mismatch"
        )
        let (x, y) = try (vector.key().x, vector.key().y)
        #expect(try code { $0.publicKey = P256PublicKey(uncheckedX: y, y: x) } == "receipt:key-mismatch")
        #expect(try code { $0.leaf = [] } == "receipt:key-mismatch")
        let isAttest = vector.receiptType == "ATTEST"
        #expect(try code { $0.clientDataHash?.append(0) } == (isAttest ? "receipt:client-hash-mismatch" : "valid"))
        let created = try #require(vector.createdTime).milliseconds - vector.validAtTime.milliseconds
        let expires = try #require(vector.expiresTime).milliseconds - vector.validAtTime.milliseconds
        #expect(try code(created - 60_000) == "valid")
        #expect(try code(created - 60_001) == "receipt:from-future")
        #expect(try code(created + 300_000) == "valid")
        #expect(try code(created + 300_001) == "receipt:too-old")
        #expect(try code(created + 300_001) { $0.maxAgeSeconds = nil } == "valid")
        #expect(try code(expires) { $0.maxAgeSeconds = nil } == "valid")
        #expect(try code(expires + 1) { $0.maxAgeSeconds = nil } == "receipt:expired")
        #expect(try code(expires + 1) { $0.maxAgeSeconds = .max } == "receipt:expired")
        #expect(try code { $0.maxAgeSeconds = .min } == "receipt:too-old")
    }

    @Test(arguments: Vectors.real(.receipt).filter { $0.receiptType == "ATTEST" && $0.attestationVector != nil })
    func `an attestation receipt holds its attestation's leaf`(_ vector: RealVector) throws {
        let attestation = try #require(vector.attestationVector.flatMap { Vectors.named($0) }).objectBytes
        // The leaf is the first byte string of the object that is a certificate: 59 LL LL 30 82.
        let start = try #require(
            attestation.indices.dropLast(5).first {
                attestation[$0] == 0x59 && attestation[$0 + 3] == 0x30 && attestation[$0 + 4] == 0x82
            }
        )
        let count = Int(attestation[start + 1]) << 8 | Int(attestation[start + 2])
        var leaf = Array(attestation[(start + 3)..<(start + 3 + count)])
        let prepared = try vector.preparedReceipt(by: Vectors.appleVerifier()) { $0.leaf = leaf }
        #expect(try prepared.receiptCode() == vector.expected)
        if vector.expected == "valid" {
            leaf[count - 1] ^= 1
            let other = try vector.preparedReceipt(by: Vectors.appleVerifier()) { $0.leaf = leaf }
            #expect(try other.receiptCode() == "receipt:key-mismatch")
        }
    }

    @Test func `with another root, or none, no receipt is trusted`() throws {
        for roots in [[], [Vectors.appleAttestationRoot]] {
            let anchors = try TrustAnchors(attestationPEM: [Vectors.appleAttestationRoot], receiptPEM: roots)
            let verifier = ObjectVerifier(anchors: anchors)
            for vector in Vectors.real(.receipt) {
                let prepared = try vector.preparedReceipt(by: verifier)
                #expect(prepared.checks.isEmpty)
                #expect(try prepared.receiptCode() == "receipt:chain")
            }
        }
    }

    @Test func `a verifier with cached signers gives the same verdicts as one without`() throws {
        let warm = try Vectors.appleVerifier()
        for vector in Vectors.real(.receipt) + Vectors.real(.receipt).reversed() {
            #expect(try vector.preparedReceipt(by: warm).receiptCode() == vector.expected)
        }
    }
}
