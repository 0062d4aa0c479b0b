package import AppAttest

/// One fault of an attestation, by name. All else is right, and everything that covers the wrong part is signed again,
/// so that the fault reaches its own check.
package enum AttestationFault: String, Sendable, CaseIterable {
    // The container.
    case empty, garbage, truncated, trailingByte = "trailing-byte", twoObjects = "two-objects"
    case indefiniteMap = "indefinite-map", indefiniteArray = "indefinite-array", indefiniteBytes = "indefinite-bytes"
    case nonMinimalMapHead = "non-minimal-map-head", nonMinimalTextHead = "non-minimal-text-head"
    case nonMinimalBytesHead = "non-minimal-bytes-head"
    case duplicateFormat = "duplicate-fmt", duplicateAuthData = "duplicate-authdata", duplicateX5c = "duplicate-x5c"
    case duplicateUnknownKey = "duplicate-unknown-key"
    case tagged, taggedAuthData = "tagged-authdata", topLevelArray = "top-level-array"
    case formatNotText = "fmt-not-text", statementNotMap = "attstmt-not-map", x5cNotArray = "x5c-not-array"
    case certificateNotBytes = "certificate-not-bytes", receiptNotBytes = "receipt-not-bytes"
    case authDataNotBytes = "authdata-not-bytes"
    case formatMissing = "fmt-missing", statementMissing = "attstmt-missing", x5cMissing = "x5c-missing"
    case authDataMissing = "authdata-missing"
    case tooDeep = "too-deep", tooManyItems = "too-many-items", oversizedObject = "oversized-object"
    case oversizedCertificate = "oversized-certificate", oversizedReceipt = "oversized-receipt"
    case float, invalidUTF8 = "invalid-utf8", hugeLength = "huge-length", reservedHead = "reserved-head"
    // The format.
    case otherFormat = "other-format", packedFormat = "packed-format", formatCase = "format-case"
    case formatSuffix = "format-suffix", emptyFormat = "empty-format"
    // The certificates, each by itself.
    case noCertificate = "no-certificate", oneCertificate = "one-certificate", threeCertificates = "three-certificates"
    case leafGarbage = "leaf-garbage", leafEmpty = "leaf-empty", leafTrailingByte = "leaf-trailing-byte"
    case leafTruncated = "leaf-truncated", leafLongFormLength = "leaf-long-form-length"
    case leafVersion1 = "leaf-version-1", leafIsCA = "leaf-is-ca", leafMayNotSign = "leaf-may-not-sign"
    case leafSHA384 = "leaf-sha384", leafAlgorithmsDiffer = "leaf-algorithms-differ"
    case leafCriticalExtension = "leaf-critical-extension", leafDuplicateExtension = "leaf-duplicate-extension"
    case leafDuplicateNonce = "leaf-duplicate-nonce", leafTimeMalformed = "leaf-time-malformed"
    case intermediateGarbage = "intermediate-garbage", intermediateTrailingByte = "intermediate-trailing-byte"
    case intermediateCriticalExtension = "intermediate-critical-extension"
    case intermediateNameConstraints = "intermediate-name-constraints"
    case intermediatePolicies = "intermediate-policies", intermediateUsage = "intermediate-usage"
    case intermediateLooseCritical = "intermediate-loose-critical", intermediateLooseCA = "intermediate-loose-ca"
    case leafCriticalUsage = "leaf-critical-usage", leafLooseCritical = "leaf-loose-critical"
    // The chain.
    case leafByOtherKey = "leaf-by-other-key", leafSignatureFlipped = "leaf-signature-flipped"
    case leafSignatureEmpty = "leaf-signature-empty", leafIssuerName = "leaf-issuer-name"
    case leafChangedAfterSigning = "leaf-changed-after-signing"
    case foreignRoot = "foreign-root", foreignIntermediate = "foreign-intermediate"
    case rootAsIntermediate = "root-as-intermediate", leafAsIntermediate = "leaf-as-intermediate"
    case swappedCertificates = "swapped-certificates"
    case intermediateNotCA = "intermediate-not-ca", intermediateNoConstraints = "intermediate-no-constraints"
    case intermediateNoCertSign = "intermediate-no-cert-sign", intermediateIssuerName = "intermediate-issuer-name"
    case intermediateSignatureFlipped = "intermediate-signature-flipped"
    // Dates.
    case leafExpired = "leaf-expired", leafNotYetValid = "leaf-not-yet-valid"
    case intermediateExpired = "intermediate-expired", intermediateNotYetValid = "intermediate-not-yet-valid"
    case rootExpired = "root-expired", rootNotYetValid = "root-not-yet-valid"
    // The nonce.
    case nonceMissing = "nonce-missing", nonceOtherTag = "nonce-other-tag", nonceShort = "nonce-31-bytes"
    case nonceLong = "nonce-33-bytes", nonceTrailingByte = "nonce-trailing-byte", nonceBare = "nonce-bare"
    case nonceEmpty = "nonce-empty", nonceLongFormLength = "nonce-long-form-length"
    case nonceFlipped = "nonce-flipped", nonceOfOtherClientData = "nonce-of-other-client-data"
    case nonceOfAuthDataOnly = "nonce-of-authdata-only", authDataChangedAfterSigning = "authdata-changed-after-signing"
    // Authenticator data.
    case authDataEmpty = "authdata-empty", authDataTruncated = "authdata-truncated"
    case authDataOfAssertion = "authdata-of-assertion"
    case flagsClear = "flags-clear", flagsOnlyED = "flags-only-ed"
    case aclMissing = "acl-missing", aclFlipped = "acl-flipped", aclOfIPhone = "acl-of-iphone"
    case aclOtherTag = "acl-other-tag", aclTrailingByte = "acl-trailing-byte"
    case leafKeyP384 = "leaf-key-p384", leafKeyCompressed = "leaf-key-compressed", leafKeyOffCurve =
        "leaf-key-off-curve"
    case leafKeyOtherCurveName = "leaf-key-other-curve-name"
    case leafKeyOfOtherDevice = "leaf-key-of-other-device"
    case otherAppID = "other-app-id", appIDCase = "app-id-case", appIDWithoutPrefix = "app-id-without-prefix"
    case counterOne = "counter-one", counterMaximal = "counter-maximal", counterHighByte = "counter-high-byte"
    case aaguidZero = "aaguid-zero", aaguidSandbox = "aaguid-sandbox", aaguidPrefix = "aaguid-prefix"
    case aaguidShifted = "aaguid-shifted", aaguidDevelopmentPrefix = "aaguid-development-prefix"
    case otherEnvironment = "other-environment"
    case credentialIDLength31 = "credential-id-length-31", credentialIDLength33 = "credential-id-length-33"
    case credentialIDLengthZero = "credential-id-length-zero", credentialIDLengthSwapped =
        "credential-id-length-swapped"
    case credentialIDFlipped = "credential-id-flipped", credentialIDOfOtherDevice = "credential-id-of-other-device"
    case coseKeyOfOtherDevice = "cose-key-of-other-device", coseKeyFlipped = "cose-key-flipped"
    case coseKeyOtherAlgorithm = "cose-key-other-algorithm", coseKeyOtherCurve = "cose-key-other-curve"
    // The extension map.
    case restGarbage = "rest-garbage", restTrailingByte = "rest-trailing-byte", restTwoMaps = "rest-two-maps"
    case restNotMap = "rest-not-map", restTruncated = "rest-truncated", restIndefinite = "rest-indefinite"
    case restDuplicateEntry = "rest-duplicate-entry", restTagged = "rest-tagged"
    case mapCutOff = "map-cut-off", mapOfOldSystem = "map-of-old-system", mapForged = "map-forged"
    case mapMoved = "map-moved"
    case categoryAsText = "category-as-text", categoryThreeBytes = "category-three-bytes"
    case categoryFiveBytes = "category-five-bytes", categoryTooBig = "category-too-big"
    case categoryNegative = "category-negative", bundleVersionAsBytes = "bundle-version-as-bytes"
    case bundleVersionAsNumber = "bundle-version-as-number"
    // What an app's policy refuses.
    case categoryMissing = "category-missing", categoryOther = "category-other"
    case categoryBigEndian = "category-big-endian"
    case bundleVersionMissing = "bundle-version-missing", bundleVersionOther = "bundle-version-other"
    case mapUnvouched = "map-unvouched"
    case receiptMissing = "receipt-missing"
}

extension AttestationFault {
    /// The one reason that a verifier must give.
    package var expected: Refusal { row.expected }

    /// Whether a device of that shape can have the fault at all.
    package func applies(to shape: DeviceShape) -> Bool {
        switch self {
        case .aclMissing, .aclFlipped, .aclOfIPhone, .aclOtherTag, .aclTrailingByte: shape.isMac
        case .mapMoved: shape.setsEDFlag
        case .receiptNotBytes, .oversizedReceipt, .receiptMissing, .mapForged: shape.hasReceipt
        default: true
        }
    }

    /// Whether the reason depends on what an app allows: then `neededExpectations` differ from the base.
    package var needsPolicy: Bool {
        switch self {
        case .categoryMissing, .categoryOther, .categoryBigEndian, .bundleVersionMissing, .bundleVersionOther,
            .mapUnvouched, .receiptMissing, .otherEnvironment:
            true
        default: false
        }
    }

    /// Whether an app that ignores receipts accepts it.
    package var needsReceipts: Bool { self == .mapForged }

    /// Whether the reason depends on ``LabCA/attestationAnchorsPEM`` being anchored, not the one root alone.
    package var needsDatedAnchors: Bool { self == .rootExpired || self == .rootNotYetValid }

    /// The expectations under which `device`'s attestation with this fault gets ``expected``.
    package func neededExpectations(_ base: Expectations, for device: FakeDevice) -> Expectations {
        var needed = base
        switch self {
        case .categoryMissing, .categoryOther, .categoryBigEndian, .mapUnvouched:
            needed.categories = EntryPolicy(allow: [device.category], whenMissing: .refuse)
        case .bundleVersionMissing, .bundleVersionOther:
            needed.bundleVersions = EntryPolicy(allow: [ExactText(device.bundleVersion)], whenMissing: .refuse)
        case .receiptMissing: needed.receipt = .require
        case .otherEnvironment: needed.environments = [device.environment]
        default: break
        }
        return needed
    }

    var effect: AttestationEffect { row.effect }

    private var row: AttestationFaultRow {
        guard let row = Self.rows[self] else { preconditionFailure("every fault has a row in a table") }
        return row
    }

    private static let rows: [AttestationFault: AttestationFaultRow] = {
        let all =
            containerRows + certificateRows + chainRows + nonceRows + authenticatorDataRows + credentialRows
            + entryRows
        return Dictionary(uniqueKeysWithValues: all.map { ($0.fault, $0) })
    }()
}
