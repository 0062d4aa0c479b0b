internal import CBOR

/// The data that iOS 27 and macOS 27 append to the authenticator data: one CBOR map, or nothing.
struct ExtensionEntries: Sendable, Equatable {
    /// Whether there is a map at all.
    private(set) var isPresent = false
    private(set) var validationCategory: UInt32?
    private(set) var bundleVersion: ExactText?

    /// A known entry of the wrong type, or bytes that are not exactly one map.
    struct Fault: Error, Equatable, Sendable {}

    /// Each entry by the name that devices write, then by the one in Apple's guide; the first one present counts.
    private static let categoryNames = ["apple_validation_category_01", "validationCategory"]
    /// Many times Apple's limit for a bundle version.
    static let maxTextBytes = 255
    private static let bundleVersionNames = ["apple_bundle_version_01", "bundleVersion"]

    /// The first major version of Apple's operating systems that writes extension maps.
    static let firstVersion = 27

    /// The entries of an object without a map, or with a map that does not count.
    static let missing = ExtensionEntries()

    private init() {}

    /// - Parameter range: what follows the fixed part of the authenticator data; empty = no entries.
    init(_ range: Range<Int>, _ bytes: Span<UInt8>) throws(Fault) {
        guard !range.isEmpty else { return }
        guard let entries = DeviceMap(bytes, in: range) else { throw Fault() }
        isPresent = true
        for name in Self.categoryNames.reversed() {
            if let value = entries.value(of: name, bytes) {
                validationCategory = try Self.category(value, bytes)
            }
        }
        for name in Self.bundleVersionNames.reversed() {
            if let value = entries.value(of: name, bytes) {
                guard case .text(let range) = value, range.count <= Self.maxTextBytes, let text = bytes.text(range)
                else { throw Fault() }
                bundleVersion = text
            }
        }
    }

    /// Devices write four little-endian bytes; the guide's UInt32 is taken as a CBOR integer, too.
    private static func category(_ value: CBORItem, _ bytes: Span<UInt8>) throws(Fault) -> UInt32 {
        switch value {
        case .bytes(let range):
            guard range.count == 4, let category = bytes.littleEndian(range) else { throw Fault() }
            return category
        case .unsigned(let number):
            guard let category = UInt32(exactly: number) else { throw Fault() }
            return category
        default:
            throw Fault()
        }
    }
}

extension ExtensionEntries {
    /// Judges both entries by an app's policies, category first.
    ///
    /// - Parameter isIgnored: there is a map that does not count, so both are missing.
    func judge(by expectations: Expectations, isIgnored: Bool, _ trace: some CheckTracer) throws(Refusal) {
        try expectations.categories.judge(
            validationCategory,
            (missing: .categoryMissing, notAllowed: .categoryNotAllowed),
            isIgnored: isIgnored,
            "validation category",
            trace
        ) { $0.sorted().map(String.init) }
        try expectations.bundleVersions.judge(
            bundleVersion,
            (missing: .bundleVersionMissing, notAllowed: .bundleVersionNotAllowed),
            isIgnored: isIgnored,
            "bundle version",
            trace
        ) { $0.sorted(by: ExactText.isBefore).map { "\($0)" } }
    }
}
