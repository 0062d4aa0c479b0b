/// The traits of a shape, one value per thing that changed over the years.
struct ShapeTraits {
    enum Platform: String { case iPhone = "iphoneos", mac = "macosx" }
    /// How extension 8.7 describes the operating system.
    enum OSDetail { case version, versionAndBuild, iOS17, iOS18Internal, iOS18, iOS26 }
    enum AccessControl { case none, iPhone, mac }
    enum EntryForm { case category, categoryInteger, bundleVersion, cdHash, cdHashType }

    var platform = Platform.iPhone
    var version: String
    var build = "18A373"
    var detail: OSDetail
    /// The flag [1202] of extension 8.5: set from some 14.x to 26.0.
    var hasFlag1202 = true
    /// "sks " under [5], and under [1212] too.
    var hasSKS = true
    /// Many devices of 2020 have " sks" instead.
    var hasEarlySKS = false
    var hasSecondSKS = false
    var accessControl = AccessControl.none
    var hasExtendedKeyUsage = false
    /// Leaves live for 72 hours, or for most of a year.
    var isLongLived = false
    /// The extension map's entries in order; nil = no map.
    var entries: [EntryForm]?
    var hasShortNames = false
    var hasEDFlag = false
    var hasCDHashKey = false
    var hasReceipt = true
    var hasDERReceipt = false
}
