import Crypto
import TestKit
import Testing

@testable import AppAttest

/// The signature covers authenticator data ‖ hash: only the flags and the receipt say where the boundary lies.
@Suite(.enabled(if: Vectors.arePresent, Vectors.absence)) struct MovedBoundaryTests {
    /// Apple's bytes with the extension map taken out of the authenticator data and put before the hash.
    private struct Moved {
        let vector: RealVector
        let object: [UInt8]
        let hash: [UInt8]
    }

    private static func movedAttestation(_ name: String) throws -> Moved {
        let vector = try #require(Vectors.named(name))
        let bytes = vector.objectBytes
        let parsed = try AttestationObject(bytes.span, limits: ObjectLimits())
        let data = Array(bytes[parsed.authenticatorData])
        let chain = parsed.certificates.map { CBORText.bytes(Array(bytes[$0])) }
        let receipt = try #require(parsed.receipt.map { Array(bytes[$0]) })
        let statement = [("x5c", CBORText.array(chain)), ("receipt", CBORText.bytes(receipt))]
        let object = CBORText.map([
            ("fmt", CBORText.text("apple-appattest")), ("attStmt", CBORText.map(statement)),
            ("authData", CBORText.bytes(Array(data[..<164]))),
        ])
        return Moved(vector: vector, object: object, hash: data[164...] + (try #require(vector.clientDataHashBytes)))
    }

    private static func movedAssertion(_ name: String) throws -> Moved {
        let vector = try #require(Vectors.named(name))
        let bytes = vector.objectBytes
        let parsed = try AssertionObject(bytes.span, limits: ObjectLimits())
        let data = Array(bytes[parsed.authenticatorData])
        let object = CBORText.map([
            ("signature", CBORText.bytes(Array(bytes[parsed.signature]))),
            ("authenticatorData", CBORText.bytes(Array(data[..<37]))),
        ])
        return Moved(vector: vector, object: object, hash: data[37...] + (try vector.assertionHash()))
    }

    /// A policy that Apple's development-signed sample does not meet, except by hiding what it is.
    private static func storeOnly(_ expectations: inout Expectations) {
        expectations.categories = EntryPolicy(allow: [4])
    }

    @Test(arguments: [
        ("att-ios27.0.1-dev-ricardo-0fefb3.json", ReceiptPolicy.report, "malformed-attestation"),
        ("att-ios27.0-prod-apple-ce0498.json", .report, "receipt:client-hash-mismatch"),
        ("att-ios27.0-prod-apple-ce0498.json", .require, "receipt:client-hash-mismatch"),
    ])
    func `category 3 of an attestation cannot be hidden in the hash: ED announces it, or the receipt has the hash`(
        _ name: String,
        _ policy: ReceiptPolicy,
        _ reason: String
    ) throws {
        let moved = try Self.movedAttestation(name)
        let verifier = try Vectors.appleVerifier()
        func code(_ object: [UInt8]?, _ hash: [UInt8]?) throws -> String {
            let change: (inout Expectations) -> Void = { expectations in
                Self.storeOnly(&expectations)
                expectations.receipt = policy
            }
            return try moved.vector.preparedAttestation(by: verifier, change, object: object, clientDataHash: hash)
                .verified(by: OpenSSLEngine()).code
        }
        #expect(try code(nil, nil) == "category-not-allowed")
        #expect(try code(moved.object, moved.hash) == reason)
    }

    @Test(arguments: ["ast-ricardo-ios27.0.1.json", "ast-ping-macos27.2-1.json", "ast-zerinix-ios27.json"])
    func `category 3 of an assertion cannot be hidden in the hash where ED announces it`(_ name: String) throws {
        let moved = try Self.movedAssertion(name)
        let verifier = try Vectors.appleVerifier()
        func code(_ object: [UInt8]?, _ hash: [UInt8]?) throws -> String {
            try moved.vector.preparedAssertion(by: verifier, Self.storeOnly, object: object, clientDataHash: hash)
                .verified(by: OpenSSLEngine()).code
        }
        #expect(try code(nil, nil) == "category-not-allowed")
        #expect(try code(moved.object, moved.hash) == "malformed-assertion")
        // The check of the shape needs no key.
        #expect(verifier.assertionShape(moved.object, clientDataHash: moved.hash) == .malformedAssertion)
    }

    /// Its signature holds wherever the two are cut; only the hash's length, which Decode judges, shows the cut.
    @Test func `an assertion whose ED is clear has the same category however it is cut: none`() throws {
        let moved = try Self.movedAssertion("ast-hellas-macos27.json")
        let verifier = try Vectors.appleVerifier()
        let policy = EntryPolicy<UInt32>(allow: [4], whenMissing: .refuse)
        let whole = (moved.vector.objectBytes, try moved.vector.assertionHash())
        for (object, hash) in [(moved.object, moved.hash), whole] {
            let refused = try moved.vector.preparedAssertion(
                by: verifier,
                { $0.categories = policy },
                object: object,
                clientDataHash: hash
            )
            #expect(refused.verified(by: OpenSSLEngine()).code == "category-missing")
        }
    }
}

/// Single faults in what makes a map trusted; the test itself answers the leaf's signature check.
@Suite struct ExtensionTrustTests {
    private static let map = CBORText.map([("apple_validation_category_01", CBORText.bytes([4, 0, 0, 0]))])

    private static func attestation(_ version: String?, flags: UInt8 = 0xC0) -> MadeAttestation {
        var attestation = MadeAttestation()
        (attestation.flags, attestation.rest) = (flags, map)
        if let version {
            let member = DER.explicit(1400, DER.text(version))
            attestation.leaf.extensions.append(MadeLeaf.apple(7, DER.sequence(member)))
        }
        return attestation
    }

    @Test(arguments: [
        ("27.0", "valid"), ("27", "valid"), ("27.0.1", "valid"), ("28.1", "valid"), ("100.0", "valid"),
        ("26.9.9", "extensions-not-expected"), ("26", "extensions-not-expected"), ("14.0", "extensions-not-expected"),
        ("9.3", "extensions-not-expected"), ("0", "extensions-not-expected"),
        // A version that cannot be read refuses nothing.
        ("", "valid"), (".26", "valid"), ("26a.1", "valid"), ("99999", "valid"), ("\u{0662}.1", "valid"),
    ])
    func `a map is refused where the leaf names a system before 27`(_ version: String, _ code: String) throws {
        for flags: UInt8 in [0xC0, 0x40] {
            #expect(try Self.attestation(version, flags: flags).verdict().code == code)
        }
        var bare = Self.attestation(version, flags: 0x40)
        bare.rest = []
        #expect(try bare.verdict().code == "valid")
        #expect(try Self.attestation(nil).verdict().code == "valid")
    }

    @Test func `a map without ED and without a receipt is missing, and the evidence says so`() throws {
        let flagged = try Self.attestation("27.0").verdict().get()
        #expect(flagged.validationCategory == 4 && !flagged.ignoresExtensions)
        let unflagged = try Self.attestation("27.0", flags: 0x40).verdict().get()
        #expect(unflagged.validationCategory == nil && unflagged.ignoresExtensions)
        let mapless = try MadeAttestation().verdict().get()
        #expect(mapless.validationCategory == nil && !mapless.ignoresExtensions)
        let strict = Expectations(
            appIDs: [MadeAttestation.appID],
            categories: EntryPolicy(allow: [4], whenMissing: .refuse)
        )
        #expect(try Self.attestation("27.0").verdict(strict).code == "valid")
        #expect(try Self.attestation("27.0", flags: 0x40).verdict(strict).code == "category-missing")
        // Trust in assertions does not extend to attestations, which have a receipt.
        var any = strict
        any.extensionTrust = .any
        #expect(try Self.attestation("27.0", flags: 0x40).verdict(any).code == "category-missing")
    }

    @Test func `the order of leaves is that of notBefore, then of serial numbers`() {
        func time(_ notBefore: Int64, _ serial: Int64) -> IssueTime {
            IssueTime(notBefore: EvaluationTime(milliseconds: notBefore), serial: serial)
        }
        #expect(time(1000, 9) < time(2000, 1) && time(1000, 1) < time(1000, 2) && !(time(1000, 1) < time(1000, 1)))
    }

    @Test(
        arguments: [
            ([0x01, 0x74, 0x82], 0x01_7482), ([0x00], 0), ([0x00, 0x80], 0x80), ([0x80], 0),
            ([0x7F, 255, 255, 255, 255, 255, 255, 255], .max), ([0x00, 0x80, 0, 0, 0, 0, 0, 0, 0], .max),
            ([0x40] + [UInt8](repeating: 0, count: 19), .max),
        ] as [([UInt8], Int64)]
    )
    func `a serial number of any length is read`(_ content: [UInt8], _ number: Int64) throws {
        var attestation = MadeAttestation()
        attestation.leaf.serial = DER.integer(content)
        #expect(try attestation.verdict().get().issued.serial == number)
    }
}
