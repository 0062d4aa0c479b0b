import Testing

@testable import AppAttest

@Suite struct ExtensionEntriesTests {
    private func read(_ bytes: [UInt8]) throws(ExtensionEntries.Fault) -> ExtensionEntries {
        try ExtensionEntries(0..<bytes.count, bytes.span)
    }

    private static let category = "apple_validation_category_01"
    private static let bundle = "apple_bundle_version_01"
    private static let four = CBORText.bytes([4, 0, 0, 0])

    private static let good: [(String, [UInt8], UInt32?, String?)] = [
        ("no bytes", [], nil, nil),
        ("an empty map", CBORText.map([]), nil, nil),
        ("bundle version first", CBORText.map([(bundle, CBORText.text("1314")), (category, four)]), 4, "1314"),
        ("category first", CBORText.map([(category, four), (bundle, CBORText.text("2"))]), 4, "2"),
        ("little-endian bytes", CBORText.map([(category, CBORText.bytes([1, 2, 3, 4]))]), 0x0403_0201, nil),
        ("an integer", CBORText.map([(category, CBORText.unsigned(6))]), 6, nil),
        ("the greatest integer", CBORText.map([(category, [0x1A, 0xFF, 0xFF, 0xFF, 0xFF])]), .max, nil),
        (
            "the guide's names", CBORText.map([("validationCategory", four), ("bundleVersion", CBORText.text(""))]), 4,
            ""
        ),
        (
            "both names", CBORText.map([("validationCategory", CBORText.unsigned(1)), (category, four)]), 4, nil
        ),
        ("unknown entries", CBORText.map([("apple_cd_hash_type_01", CBORText.bytes([2])), (category, four)]), 4, nil),
        ("keys that are no text", [0xA1, 0x01, 0x02], nil, nil),
    ]

    @Test(arguments: good)
    func `entries are read from`(_ name: String, _ bytes: [UInt8], _ category: UInt32?, _ bundle: String?) throws {
        let entries = try read(bytes)
        #expect(entries.validationCategory == category)
        #expect(entries.bundleVersion?.shown == bundle)
    }

    private static let bad: [(String, [UInt8])] = [
        ("no map", CBORText.array([])),
        ("a number", [0x00]),
        ("two maps", CBORText.map([]) + CBORText.map([])),
        ("a byte after the map", CBORText.map([]) + [0x00]),
        ("an unfinished map", [0xA1]),
        ("an indefinite map", [0xBF, 0xFF]),
        ("an entry twice", CBORText.map([(category, four), (category, four)])),
        ("three bytes", CBORText.map([(category, CBORText.bytes([4, 0, 0]))])),
        ("five bytes", CBORText.map([(category, CBORText.bytes([4, 0, 0, 0, 0]))])),
        ("an integer beyond 32 bits", CBORText.map([(category, [0x1B, 0, 0, 0, 1, 0, 0, 0, 0])])),
        ("a negative integer", CBORText.map([(category, [0x20])])),
        ("a category as text", CBORText.map([(category, CBORText.text("4"))])),
        ("a bundle version as bytes", CBORText.map([(bundle, CBORText.bytes([0x31]))])),
        ("a bundle version that is no UTF-8", CBORText.map([(bundle, [0x61, 0xFF])])),
        ("a wrong type under the guide's name", CBORText.map([("bundleVersion", CBORText.unsigned(1))])),
        (
            "a wrong type beside the right one",
            CBORText.map([(category, four), ("validationCategory", CBORText.text("4"))])
        ),
    ]

    @Test(arguments: bad) func `a fault is`(_ name: String, _ bytes: [UInt8]) {
        #expect(throws: ExtensionEntries.Fault.self) { try read(bytes) }
    }

    @Test(arguments: [
        (EntryPolicy<UInt32>(), UInt32?.none, "valid"),
        (EntryPolicy(), 9, "valid"),
        (EntryPolicy(whenMissing: .refuse), nil, "category-missing"),
        (EntryPolicy(whenMissing: .refuse), 9, "valid"),
        (EntryPolicy(allow: [2, 4]), nil, "valid"),
        (EntryPolicy(allow: [2, 4]), 4, "valid"),
        (EntryPolicy(allow: [2, 4]), 3, "category-not-allowed"),
        (EntryPolicy(allow: []), 4, "category-not-allowed"),
        (EntryPolicy(allow: [2, 4], whenMissing: .refuse), nil, "category-missing"),
    ])
    func `the category's policy says`(_ policy: EntryPolicy<UInt32>, _ category: UInt32?, _ code: String) throws {
        let map = category.map { CBORText.map([(Self.category, CBORText.unsigned(Int($0)))]) } ?? []
        let entries = try read(map)
        let expectations = Expectations(appIDs: [], categories: policy)
        let verdict = Result { () throws(Refusal) in try entries.judge(by: expectations, isIgnored: false, NoTrace()) }
        #expect(verdict.code == code)
    }
}
