/// Why an object was refused: one case per check, in the order in which the checks are judged.
package enum Refusal: CheckFailure, Hashable, Sendable {
    case malformedAttestation
    case malformedAssertion
    case badFormat
    case badCertificate
    case chain
    case expiredOrNotYetValid(CertificateRole)
    case nonceMissing, nonceMalformed, nonceMismatch
    /// An attestation without the AT flag; checked after the nonce.
    case flags
    case aclMissing, aclMismatch
    case keyType, keyIDMismatch
    case appIDMismatch
    case counterNotZero
    case aaguidUnknown, environmentMismatch
    case credentialIDLength, credentialIDMismatch
    case coseKeyMismatch
    case malformedAuthData
    /// An extension map although the leaf names an operating system that writes none.
    case extensionsNotExpected
    case categoryMissing, categoryNotAllowed
    case bundleVersionMissing, bundleVersionNotAllowed
    case receipt(ReceiptRefusal)
    case signatureInvalid
    case keyInvalid

    package enum CertificateRole: String, Hashable, Sendable, CaseIterable { case leaf, intermediate, root }

    package var code: String {
        switch self {
        case .malformedAttestation: "malformed-attestation"
        case .malformedAssertion: "malformed-assertion"
        case .badFormat: "bad-format"
        case .badCertificate: "bad-certificate"
        case .chain: "chain"
        case .expiredOrNotYetValid(let role): "expired-or-not-yet-valid:\(role.rawValue)"
        case .nonceMissing: "nonce-missing"
        case .nonceMalformed: "nonce-malformed"
        case .nonceMismatch: "nonce-mismatch"
        case .flags: "flags"
        case .aclMissing: "acl-missing"
        case .aclMismatch: "acl-mismatch"
        case .keyType: "key-type"
        case .keyIDMismatch: "keyid-mismatch"
        case .appIDMismatch: "app-id-mismatch"
        case .counterNotZero: "counter-not-zero"
        case .aaguidUnknown: "aaguid-unknown"
        case .environmentMismatch: "environment-mismatch"
        case .credentialIDLength: "credential-id-length"
        case .credentialIDMismatch: "credential-id-mismatch"
        case .coseKeyMismatch: "cose-key-mismatch"
        case .malformedAuthData: "malformed-authdata"
        case .extensionsNotExpected: "extensions-not-expected"
        case .categoryMissing: "category-missing"
        case .categoryNotAllowed: "category-not-allowed"
        case .bundleVersionMissing: "bundle-version-missing"
        case .bundleVersionNotAllowed: "bundle-version-not-allowed"
        case .receipt(let refusal): refusal.code
        case .signatureInvalid: "signature-invalid"
        case .keyInvalid: "key-invalid"
        }
    }
}

extension Refusal: CaseIterable {
    /// All refusals in the order of an attestation's checks, then those of an assertion alone.
    package static var allCases: [Refusal] {
        [.malformedAttestation, .malformedAssertion, .badFormat, .badCertificate, .chain]
            + CertificateRole.allCases.map { .expiredOrNotYetValid($0) } + [
                .nonceMissing, .nonceMalformed, .nonceMismatch, .flags, .aclMissing, .aclMismatch, .keyType,
                .keyIDMismatch, .appIDMismatch, .counterNotZero, .aaguidUnknown, .environmentMismatch,
                .credentialIDLength, .credentialIDMismatch, .coseKeyMismatch, .malformedAuthData,
                .extensionsNotExpected, .categoryMissing, .categoryNotAllowed, .bundleVersionMissing,
                .bundleVersionNotAllowed,
            ] + ReceiptRefusal.allCases.map { .receipt($0) } + [.signatureInvalid, .keyInvalid]
    }
}
