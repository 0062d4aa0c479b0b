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

    var traits: ShapeTraits {
        switch self {
        case .ios14_0: ShapeTraits(version: "14.0", detail: .version, hasFlag1202: false, hasEarlySKS: true)
        case .ios14_2: ShapeTraits(version: "14.2", detail: .version, hasFlag1202: false, hasEarlySKS: true)
        case .ios15_5: ShapeTraits(version: "15.5", detail: .version)
        case .ios16_2: ShapeTraits(version: "16.2", detail: .version)
        case .receiptInDER: ShapeTraits(version: "16.2", detail: .version, hasDERReceipt: true)
        case .ios16_5: ShapeTraits(version: "16.5", build: "20F66", detail: .versionAndBuild, isLongLived: true)
        case .ios17_5: ShapeTraits(version: "17.5.1", build: "21F90", detail: .iOS17, isLongLived: true)
        case .noReceipt:
            ShapeTraits(version: "17.5.1", build: "21F90", detail: .iOS17, isLongLived: true, hasReceipt: false)
        case .ios18_0: ShapeTraits(version: "18.0", build: "22A244b", detail: .iOS18Internal)
        case .ios18_3: ShapeTraits(version: "18.3.1", build: "22D72", detail: .iOS18, isLongLived: true)
        case .ios18_5CDHash:
            ShapeTraits(version: "18.5", build: "22F76", detail: .iOS18, isLongLived: true, hasCDHashKey: true)
        case .ios26_0: ShapeTraits(version: "26.0.1", build: "23A355", detail: .iOS26, hasSecondSKS: true)
        case .ios26_1: .iOS("26.1", "23B85", hasUsage: false)
        case .ios26_3: .iOS("26.3", "23D127")
        case .ios27_0: .iOS("27.0", "24A325", [.bundleVersion, .category])
        case .ios27OldSDK: .iOS("27.0.1", "24A446")
        case .ios27_0_1: .iOS27([.bundleVersion, .category])
        case .ios27CategoryFirst: .iOS27([.category, .bundleVersion])
        case .ios27CategoryInteger: .iOS27([.bundleVersion, .categoryInteger])
        case .ios27ShortNames: .iOS27([.bundleVersion, .category], hasShortNames: true)
        case .ios27OneEntry: .iOS27([.category])
        case .ios27ThreeEntries: .iOS27([.cdHash, .cdHashType, .category])
        case .ios27FourEntries: .iOS27([.bundleVersion, .cdHash, .cdHashType, .category])
        case .macos27_0: .macOS("27.0", "26A5378n", [.cdHash, .cdHashType, .category], hasEDFlag: false)
        case .macos27_2: .macOS("27.2", "26C101", [.category], hasEDFlag: true)
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
}

extension ShapeTraits {
    /// Devices since iOS 26.1, without the ED flag: access control in the leaf, no "sks ".
    fileprivate static func iOS(
        _ version: String,
        _ build: String,
        _ entries: [EntryForm]? = nil,
        hasUsage: Bool = true
    ) -> Self {
        var traits = Self(version: version, build: build, detail: .iOS26, hasFlag1202: false, hasSKS: false)
        (traits.accessControl, traits.hasExtendedKeyUsage, traits.entries) = (.iPhone, hasUsage, entries)
        return traits
    }

    fileprivate static func iOS27(_ entries: [EntryForm], hasShortNames: Bool = false) -> Self {
        var traits = iOS("27.0.1", "24A446", entries)
        (traits.hasEDFlag, traits.hasShortNames) = (true, hasShortNames)
        return traits
    }

    fileprivate static func macOS(_ version: String, _ build: String, _ entries: [EntryForm], hasEDFlag: Bool) -> Self {
        var traits = iOS(version, build, entries)
        (traits.platform, traits.accessControl, traits.hasEDFlag) = (.mac, .mac, hasEDFlag)
        return traits
    }
}
