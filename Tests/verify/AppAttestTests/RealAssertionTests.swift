import AppAttest
import Crypto
import TestKit
import Testing

@Suite(.enabled(if: Vectors.arePresent, Vectors.absence)) struct RealAssertionTests {
    @Test(arguments: Vectors.real(.assertion))
    func `Apple's assertions have their verdicts`(_ vector: RealVector) throws {
        let prepared = try vector.preparedAssertion(by: Vectors.appleVerifier())
        let verdict = prepared.verified(by: OpenSSLEngine())
        #expect(verdict.code == vector.expected)
        guard case .success(let evidence) = verdict else { return }
        #expect(evidence.counter == vector.counter)
        #expect(evidence.appID == vector.matchingAppID)
    }

    @Test(arguments: Vectors.real(.assertion).filter { $0.acceptingClientDataHashBytes != nil })
    func `betas of iOS 14 signed the hash of the hash`(_ vector: RealVector) throws {
        let verifier = try Vectors.appleVerifier()
        let prepared = try vector.preparedAssertion(
            by: verifier,
            clientDataHash: vector.acceptingClientDataHashBytes
        )
        #expect(prepared.verified(by: OpenSSLEngine()).code == "valid")
    }

    @Test(arguments: Vectors.real(.assertion).filter { $0.expected == "valid" })
    func `each wrong argument gives its reason`(_ vector: RealVector) throws {
        let verifier = try Vectors.appleVerifier()
        let engine = OpenSSLEngine()
        let otherApp = try vector.preparedAssertion(by: verifier, { $0.appIDs = [AppID("X.y")] })
        #expect(otherApp.verified(by: engine).code == "app-id-mismatch")
        let otherHash = try vector.preparedAssertion(by: verifier, clientDataHash: SHA256.hash([0]).bytes)
        #expect(otherHash.verified(by: engine).code == "signature-invalid")
        let key = try #require(MadeLeaf.baseKey)
        let otherKey = try vector.preparedAssertion(by: verifier, key: key)
        #expect(otherKey.verified(by: engine).code == "signature-invalid")
        let noCategory = try vector.preparedAssertion(by: verifier) { $0.categories = EntryPolicy(allow: []) }
        let evidence = try vector.preparedAssertion(by: verifier).verified(by: engine).get()
        let expected = evidence.validationCategory == nil ? "valid" : "category-not-allowed"
        #expect(noCategory.verified(by: engine).code == expected)
    }

    @Test func `a map without ED counts where the app trusts any`() throws {
        let vector = try #require(Vectors.named("ast-hellas-macos27.json"))
        func verdict(_ change: (inout Expectations) -> Void) throws -> Result<AssertionEvidence, Refusal> {
            try vector.preparedAssertion(by: Vectors.appleVerifier(), change).verified(by: OpenSSLEngine())
        }
        let trusted = try verdict { $0.extensionTrust = .any }.get()
        #expect(trusted.validationCategory == 6 && !trusted.ignoresExtensions)
        let policy = EntryPolicy<UInt32>(allow: [6], whenMissing: .refuse)
        #expect(try verdict { $0.categories = policy }.code == "category-missing")
        #expect(try verdict { ($0.categories, $0.extensionTrust) = (policy, .any) }.code == "valid")
    }

    @Test func `values that devices report become evidence`() throws {
        let cases: [(String, UInt32?, String?)] = [
            ("ast-hellas-macos27.json", nil, nil), ("ast-ping-macos27.2-1.json", 3, nil),
            ("ast-ricardo-ios27.0.1.json", 3, "1314"), ("ast-zerinix-ios27.json", 3, "2"),
            ("ast-ios14.4-bas-d-60f298.json", nil, nil),
        ]
        for (name, category, bundleVersion) in cases {
            let vector = try #require(Vectors.named(name))
            let prepared = try vector.preparedAssertion(by: Vectors.appleVerifier())
            let evidence = try prepared.verified(by: OpenSSLEngine()).get()
            #expect(evidence.validationCategory == category)
            #expect(evidence.bundleVersion?.shown == bundleVersion)
            #expect(evidence.ignoresExtensions == name.contains("hellas"))
        }
    }
}
