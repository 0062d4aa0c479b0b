package import AppAttest

/// One fault of an assertion, by name; all else is right and signed again.
///
/// Replayed counters are not here: a caller makes them with ``FakeDevice/assertion(clientDataHash:counter:fault:)``.
package enum AssertionFault: String, Sendable, CaseIterable {
    // The container.
    case empty, garbage, truncated, trailingByte = "trailing-byte", twoObjects = "two-objects"
    case indefiniteMap = "indefinite-map", indefiniteBytes = "indefinite-bytes"
    case nonMinimalMapHead = "non-minimal-map-head", nonMinimalTextHead = "non-minimal-text-head"
    case duplicateSignature = "duplicate-signature", duplicateAuthData = "duplicate-authdata"
    case duplicateUnknownKey = "duplicate-unknown-key"
    case tagged, topLevelArray = "top-level-array"
    case signatureNotBytes = "signature-not-bytes", authDataNotBytes = "authdata-not-bytes"
    case signatureMissing = "signature-missing", authDataMissing = "authdata-missing"
    case tooDeep = "too-deep", tooManyItems = "too-many-items", oversizedObject = "oversized-object"
    case float, invalidUTF8 = "invalid-utf8", hugeLength = "huge-length", reservedHead = "reserved-head"
    case authDataEmpty = "authdata-empty", authDataShort = "authdata-36-bytes"
    // The signature.
    case signatureEmpty = "signature-empty", signatureFlipped = "signature-flipped", rFlipped = "r-flipped"
    case paddedR = "padded-r", paddedS = "padded-s", negativeR = "negative-r"
    case longFormLength = "long-form-length", signatureTrailingByte = "signature-trailing-byte"
    case innerTrailingByte = "inner-trailing-byte", indefiniteSignature = "indefinite-signature"
    case rawSignature = "raw-signature", rZero = "r-zero", sZero = "s-zero", rIsOrder = "r-is-order"
    case sIsOrder = "s-is-order", sPlusOrder = "s-plus-order", swapped
    case singleHash = "single-hash", byOtherKey = "by-other-key", overOtherClientData = "over-other-client-data"
    case overAuthDataOnly = "over-authdata-only", counterChangedAfterSigning = "counter-changed-after-signing"
    case appIDChangedAfterSigning = "app-id-changed-after-signing"
    // The content.
    case otherAppID = "other-app-id", appIDCase = "app-id-case"
    case restGarbage = "rest-garbage", restTrailingByte = "rest-trailing-byte", restTwoMaps = "rest-two-maps"
    case restNotMap = "rest-not-map", restTruncated = "rest-truncated", restDuplicateEntry = "rest-duplicate-entry"
    case categoryAsText = "category-as-text", categoryThreeBytes = "category-three-bytes"
    case bundleVersionAsBytes = "bundle-version-as-bytes", mapCutOff = "map-cut-off"
    case mapMoved = "map-moved"
    // What an app's policy refuses.
    case categoryMissing = "category-missing", categoryOther = "category-other"
    case bundleVersionMissing = "bundle-version-missing", bundleVersionOther = "bundle-version-other"
    case mapForged = "map-forged"
}

extension AssertionFault {
    /// The one reason that a verifier must give.
    package var expected: Refusal { row.expected }

    /// Whether a device of that shape can have the fault at all.
    package func applies(to shape: DeviceShape) -> Bool { self == .mapMoved ? shape.setsEDFlag : true }

    /// Whether the reason depends on what an app allows: then `neededExpectations` differ from the base.
    package var needsPolicy: Bool {
        switch self {
        case .categoryMissing, .categoryOther, .bundleVersionMissing, .bundleVersionOther, .mapForged: true
        default: false
        }
    }

    /// The expectations under which `device`'s assertion with this fault gets ``expected``.
    package func neededExpectations(_ base: Expectations, for device: FakeDevice) -> Expectations {
        var needed = base
        switch self {
        case .categoryMissing, .categoryOther, .mapForged:
            needed.categories = EntryPolicy(allow: [device.category], whenMissing: .refuse)
        case .bundleVersionMissing, .bundleVersionOther:
            needed.bundleVersions = EntryPolicy(allow: [ExactText(device.bundleVersion)], whenMissing: .refuse)
        default: break
        }
        return needed
    }

    var effect: AssertionEffect { row.effect }

    private var row: AssertionFaultRow {
        guard let row = Self.rows[self] else { preconditionFailure("every fault has a row in a table") }
        return row
    }

    private static let rows = Dictionary(
        uniqueKeysWithValues: (containerRows + signatureRows + contentRows).map { ($0.fault, $0) }
    )
}
