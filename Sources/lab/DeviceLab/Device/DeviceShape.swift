/// The form of a device's objects: one case per form seen since iOS 14.
package enum DeviceShape: String, Sendable, CaseIterable {
    case ios14_0 = "ios14.0"
    case ios14_2 = "ios14.2"
    case ios15_5 = "ios15.5"
    case ios16_2 = "ios16.2"
    /// The leaf names the build too, and lives for most of a year.
    case ios16_5 = "ios16.5"
    case ios17_5 = "ios17.5.1"
    /// The leaf names the platform; an internal build, as Apple's sample.
    case ios18_0 = "ios18.0"
    case ios18_3 = "ios18.3.1"
    /// A fourth top-level key in the attestation, a third in the assertion, both unsigned.
    case ios18_5CDHash = "ios18.5-cdhash"
    case ios26_0 = "ios26.0"
    /// Access control in the leaf, no "sks ".
    case ios26_1 = "ios26.1"
    /// Extended key usage in the leaf.
    case ios26_3 = "ios26.3"
    /// A map although the ED flag is clear.
    case ios27_0 = "ios27.0"
    case ios27_0_1 = "ios27.0.1"
    /// iOS 27, but the app was built with an older SDK: no map.
    case ios27OldSDK = "ios27-old-sdk"
    case ios27CategoryFirst = "ios27-category-first"
    /// The category as a CBOR integer, as Apple's guide has it.
    case ios27CategoryInteger = "ios27-category-integer"
    /// `validationCategory` and `bundleVersion`, as the guide's assertion steps have them.
    case ios27ShortNames = "ios27-short-names"
    case ios27OneEntry = "ios27-1-entry"
    case ios27ThreeEntries = "ios27-3-entries"
    case ios27FourEntries = "ios27-4-entries"
    case macos27_0 = "macos27.0"
    case macos27_2 = "macos27.2"
    /// An attestation whose receipt was removed, as published fixtures are.
    case noReceipt = "no-receipt"
    /// Receipts in definite-length DER instead of BER.
    case receiptInDER = "receipt-in-der"
}

extension DeviceShape {
    var traits: ShapeTraits {
        switch self {
        case .ios14_0: return ShapeTraits(version: "14.0", detail: .version, hasFlag1202: false, hasEarlySKS: true)
        case .ios14_2: return ShapeTraits(version: "14.2", detail: .version, hasFlag1202: false, hasEarlySKS: true)
        case .ios15_5: return ShapeTraits(version: "15.5", detail: .version)
        case .ios16_2, .receiptInDER: return ios16_2
        case .ios16_5: return ShapeTraits(version: "16.5", build: "20F66", detail: .versionAndBuild, isLongLived: true)
        case .ios17_5, .noReceipt: return ios17_5
        case .ios18_0: return ShapeTraits(version: "18.0", build: "22A244b", detail: .iOS18Internal)
        case .ios18_3, .ios18_5CDHash: return ios18
        case .ios26_0, .ios26_1, .ios26_3: return ios26
        case .macos27_0, .macos27_2: return macOS27
        default: return iOS27
        }
    }

    /// Whether this is a Mac: whether the rule on access control applies.
    package var isMac: Bool { self == .macos27_0 || self == .macos27_2 }
    /// Whether attestations of this shape carry a receipt.
    package var hasReceipt: Bool { self != .noReceipt }
    /// Whether the category is among what this shape's devices sign.
    package var hasCategory: Bool {
        traits.entries.map { $0.contains(.category) || $0.contains(.categoryInteger) } ?? false
    }
    /// Whether this shape's devices announce their extension map by the ED flag.
    package var setsEDFlag: Bool { traits.hasEDFlag }
    /// Whether the bundle version is.
    package var hasBundleVersion: Bool { traits.entries?.contains(.bundleVersion) ?? false }

    private var ios16_2: ShapeTraits {
        ShapeTraits(version: "16.2", detail: .version, hasDERReceipt: self == .receiptInDER)
    }

    private var ios17_5: ShapeTraits {
        ShapeTraits(
            version: "17.5.1",
            build: "21F90",
            detail: .iOS17,
            isLongLived: true,
            hasReceipt: self != .noReceipt
        )
    }

    private var ios18: ShapeTraits {
        let hasCDHash = self == .ios18_5CDHash
        return ShapeTraits(
            version: hasCDHash ? "18.5" : "18.3.1",
            build: hasCDHash ? "22F76" : "22D72",
            detail: .iOS18,
            isLongLived: true,
            hasCDHashKey: hasCDHash
        )
    }

    private var ios26: ShapeTraits {
        var traits = ShapeTraits(version: "26.0.1", build: "23A355", detail: .iOS26)
        traits.hasSecondSKS = self == .ios26_0
        traits.hasSKS = self == .ios26_0
        guard self != .ios26_0 else { return traits }
        (traits.version, traits.build) = self == .ios26_1 ? ("26.1", "23B85") : ("26.3", "23D127")
        traits.accessControl = .iPhone
        traits.hasFlag1202 = false
        traits.hasExtendedKeyUsage = self == .ios26_3
        return traits
    }

    private var iOS27: ShapeTraits {
        var traits = ShapeTraits(version: "27.0.1", build: "24A446", detail: .iOS26, hasFlag1202: false, hasSKS: false)
        traits.accessControl = .iPhone
        traits.hasExtendedKeyUsage = true
        traits.hasShortNames = self == .ios27ShortNames
        traits.hasEDFlag = self != .ios27_0 && self != .ios27OldSDK
        if self == .ios27_0 { (traits.version, traits.build) = ("27.0", "24A325") }
        switch self {
        case .ios27OldSDK: traits.entries = nil
        case .ios27OneEntry: traits.entries = [.category]
        case .ios27ThreeEntries: traits.entries = [.cdHash, .cdHashType, .category]
        case .ios27FourEntries: traits.entries = [.bundleVersion, .cdHash, .cdHashType, .category]
        case .ios27CategoryFirst: traits.entries = [.category, .bundleVersion]
        case .ios27CategoryInteger: traits.entries = [.bundleVersion, .categoryInteger]
        default: traits.entries = [.bundleVersion, .category]
        }
        return traits
    }

    private var macOS27: ShapeTraits {
        var traits = ShapeTraits(
            platform: .mac,
            version: "27.0",
            build: "26A5378n",
            detail: .iOS26,
            hasFlag1202: false,
            hasSKS: false
        )
        traits.accessControl = .mac
        traits.hasExtendedKeyUsage = true
        traits.entries = [.cdHash, .cdHashType, .category]
        guard self == .macos27_2 else { return traits }
        (traits.version, traits.build) = ("27.2", "26C101")
        traits.entries = [.category]
        traits.hasEDFlag = true
        return traits
    }
}
