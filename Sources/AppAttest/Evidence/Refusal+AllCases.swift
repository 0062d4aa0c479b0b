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
