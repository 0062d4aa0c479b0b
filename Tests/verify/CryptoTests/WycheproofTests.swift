import Crypto
import Foundation
import TestKit
import Testing

/// Every case must come out as Wycheproof says; `acceptable` counts as invalid, since the reader is strict.
@Suite(.enabled(if: WycheproofVectors.arePresent, Comment(rawValue: WycheproofVectors.absence)))
struct WycheproofTests {
    enum Engine: String, CaseIterable {
        case openSSL, portable, ifma

        static let usable = allCases.filter { $0 != .ifma || BatchArithmetic.featureMissingForIFMA == nil }

        func make() -> any SignatureEngine {
            switch self {
            case .openSSL: OpenSSLEngine()
            case .portable: BatchEngineTests.engine(.portable)
            case .ifma: BatchEngineTests.engine(.ifma)
            }
        }
    }

    /// Beside every case stands a second signature: one alone is not verified with IFMA.
    @Test(arguments: Engine.usable)
    func `P-256 with SHA-256 accepts the valid signatures and nothing else`(kind: Engine) throws {
        let (engine, neighbour) = (kind.make(), SignatureCases(seed: 12).valid(0))
        try check("ecdsa_secp256r1_sha256_test") { key, digest, der in
            guard let key = P256PublicKey(x963: key) else { return nil }
            guard let signature = P256Signature(strictDER: der) else { return false }
            let answers = engine.verify([.p256(key: key, digest: digest, signature: signature), neighbour])
            #expect(answers[1])
            return answers[0]
        }
    }

    @Test(arguments: Engine.usable)
    func `P-384 with SHA-256 accepts the valid signatures and nothing else`(kind: Engine) throws {
        let engine = kind.make()
        try check("ecdsa_secp384r1_sha256_test") { key, digest, der in
            guard let key = P384PublicKey(x963: key) else { return nil }
            return engine.verify([.p384(key: key, digest: digest, signature: der)]) == [true]
        }
    }

    @Test(arguments: Engine.usable)
    func `a group of checks gives the same answers as its checks one by one`(kind: Engine) throws {
        let engine = kind.make()
        let file = try WycheproofVectors.file("ecdsa_secp256r1_sha256_test")
        var checks: [SignatureCheck] = []
        for group in file.testGroups {
            let point = WycheproofVectors.bytes(hex: group.publicKey.uncompressed)
            let key = try #require(P256PublicKey(x963: point))
            for test in group.tests {
                let der = WycheproofVectors.bytes(hex: test.sig)
                guard let signature = P256Signature(strictDER: der) else { continue }
                let digest = SHA256.hash(WycheproofVectors.bytes(hex: test.msg))
                checks.append(.p256(key: key, digest: digest, signature: signature))
            }
        }
        let answers = engine.verify(checks)
        #expect(answers == checks.map { OpenSSLEngine().isValid($0) })
        #expect(answers.contains(true))
        #expect(answers.contains(false))
    }

    /// - Parameter isValid: nil = the key itself is unusable.
    private func check(_ name: String, isValid: (_ key: [UInt8], _ digest: Digest, _ der: [UInt8]) -> Bool?) throws {
        let file = try WycheproofVectors.file(name)
        var count = 0
        for group in file.testGroups {
            let key = WycheproofVectors.bytes(hex: group.publicKey.uncompressed)
            for test in group.tests {
                count += 1
                let digest = SHA256.hash(WycheproofVectors.bytes(hex: test.msg))
                let answer = isValid(key, digest, WycheproofVectors.bytes(hex: test.sig))
                #expect(answer == (test.result == "valid"), "\(name) \(test.tcId): \(test.comment) \(test.flags)")
            }
        }
        #expect(count == file.numberOfTests)
        #expect(count > 400)
    }
}
