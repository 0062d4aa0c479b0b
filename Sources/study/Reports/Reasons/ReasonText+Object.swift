internal import AppAttest

/// Reasons that an attestation or assertion can have.
extension ReasonText {
    static func of(_ refusal: Refusal) -> ReasonText {
        switch refusal {
        case .expiredOrNotYetValid(.leaf): .datesLeaf
        case .expiredOrNotYetValid(.intermediate):
            .init("The intermediate is not valid at the record's time.", [.operator], "Check the record's timestamp.")
        case .expiredOrNotYetValid(.root): .datesRoot
        case .receipt(let refusal): of(refusal)
        case .malformedAttestation: .malformedAttestation
        case .malformedAssertion: .malformedAssertion
        case .badFormat: .badFormat
        case .badCertificate: .badCertificate
        case .chain: .chain
        case .nonceMissing: .rare("The leaf has no nonce extension.")
        case .nonceMalformed: .rare("The nonce extension does not have its one DER form.")
        case .nonceMismatch: .nonceMismatch
        case .flags: .rare("The AT flag is missing: authData has no attested credential.")
        case .aclMissing: .aclMissing
        case .aclMismatch: .aclMismatch
        case .keyType: .rare("The leaf's key is not a P-256 point.")
        case .keyIDMismatch: .keyidMismatch
        case .appIDMismatch: .appIdMismatch
        case .counterNotZero: .rare("The counter of the attestation is not 0.")
        case .aaguidUnknown: .rare("The AAGUID is neither Apple's production nor its development value.")
        case .environmentMismatch: .environmentMismatch
        case .credentialIDLength: .rare("The credential ID does not have 32 bytes.")
        case .credentialIDMismatch:
            .init("The credential ID is not the key ID.", [.attacker, .app], "As for `keyid-mismatch`.")
        case .coseKeyMismatch: .rare("The COSE key is not the leaf's key.")
        case .malformedAuthData: .malformedAuthdata
        case .extensionsNotExpected: .rare("An extension map although the leaf names a system before version 27.")
        case .categoryMissing: .categoryMissing
        case .categoryNotAllowed: .categoryNotAllowed
        case .bundleVersionMissing: .bundleVersionMissing
        case .bundleVersionNotAllowed: .bundleVersionNotAllowed
        case .signatureInvalid: .signatureInvalid
        case .keyInvalid: .keyInvalid
        }
    }

    static let malformedAttestation = ReasonText(
        "The object is not strict CBOR of the expected shape or is too large (see "
            + "[Configuration, Fixed limits](Configuration.md#fixed-limits)), or ED announces an extension map that "
            + "is missing.",
        [.app, .attacker],
        "Check that the gateway forwards `attestationStatement` unchanged. Run `inspect` on the object."
    )
    static let malformedAssertion = ReasonText(
        "The assertion is not strict CBOR of the expected shape or is too large (see "
            + "[Configuration, Fixed limits](Configuration.md#fixed-limits)), or ED announces an extension map that "
            + "is missing.",
        [.app, .attacker],
        "Check that the gateway forwards `assertion` unchanged."
    )
    static let badFormat = ReasonText(
        "`fmt` is not `apple-appattest`.",
        [.attacker, .app],
        "Check that the object comes from `attestKey`."
    )
    static let badCertificate = ReasonText(
        "`x5c` does not have two certificates, or a certificate is not readable: not DER, an unknown critical "
            + "extension, a wrong key usage.",
        [.attacker],
        "Nothing while it is rare. Compare with the shapes in `inspect`."
    )
    static let chain = ReasonText(
        "No configured attestation root issued the intermediate, or the leaf's signature is not the intermediate's.",
        [.operator, .attacker],
        "Check `anchors.attestation`. A lab root refuses real devices, and Apple's root refuses the fake ones of "
            + "`simulate`."
    )
    static let datesLeaf = ReasonText(
        "The leaf is not valid at the record's time.",
        [.device, .operator],
        "Check that the topic has LogAppendTime. A device that submits an attestation days after it was made must "
            + "attest again."
    )
    static let datesRoot = ReasonText(
        "No root that issued the intermediate is valid at the record's time.",
        [.operator],
        "Check `anchors.attestation` and the record's timestamp."
    )
    static let nonceMismatch = ReasonText(
        "The nonce is not SHA-256 of authData and client data hash: the device attested another challenge.",
        [.app, .gateway],
        "Compare the challenge that the app hashed with the one in the request. Some clients hash its text, others its "
            + "bytes."
    )
    static let aclMissing = ReasonText(
        "A Mac's leaf has no access control list, and the app requires it.",
        [.device],
        "The Mac is not protected as Apple asks. To accept it, set `macOS.acl` to `accept`."
    )
    static let aclMismatch = ReasonText(
        "A Mac's access control list is not the published one: System Integrity Protection or Full Security is off.",
        [.device, .attacker],
        "As for `acl-missing`."
    )
    static let keyidMismatch = ReasonText(
        "SHA-256 of the leaf's key is not the request's key ID.",
        [.app],
        "Check that the app sends the key ID that belongs to this attestation."
    )
    static let appIdMismatch = ReasonText(
        "The App ID is not in the app's `appleAppIds`; or an assertion is for another App ID than its key was "
            + "attested for.",
        [.operator, .app],
        "Add the App ID, with its team prefix. An App Clip attests with its full app's; an extension has its own."
    )
    static let environmentMismatch = ReasonText(
        "The object is of an environment that the app does not list.",
        [.operator, .app],
        "Development builds attest in `development`. List it only for test apps."
    )
    static let malformedAuthdata = ReasonText(
        "authData is too short, or its rest is not one well-formed map.",
        [.attacker],
        "Run `inspect` on the object."
    )
    static let categoryMissing = ReasonText(
        "No validation category that counts, and `categories.whenMissing` is `refuse`.",
        [.device, .operator],
        "Systems before 27 have none. `extensionsIgnored` in the evidence marks a map that did not count."
    )
    static let categoryNotAllowed = ReasonText(
        "The validation category is not in `categories.allow`.",
        [.app, .attacker],
        "Compare `presentedCategory` of the evidence with the way this build is distributed."
    )
    static let bundleVersionMissing = ReasonText(
        "No bundle version that counts, and `bundleVersions.whenMissing` is `refuse`.",
        [.device, .operator],
        "As for `category-missing`."
    )
    static let bundleVersionNotAllowed = ReasonText(
        "The bundle version is not in `bundleVersions.allow`.",
        [.operator, .app],
        "Add the build to the list, or let old builds update."
    )
    static let signatureInvalid = ReasonText(
        "The signature does not match authenticator data and client data hash under the attested key.",
        [.app, .gateway],
        "Compare the client data that the app signs with the request. For an exchange it is SHA-256 of artifact and "
            + "challenge."
    )
    static let keyInvalid = ReasonText(
        "The stored key is not a point of P-256.",
        [.operator],
        "The key came from a KEYS file. Correct `publicKey` and import it again, or let the device attest again."
    )
}
