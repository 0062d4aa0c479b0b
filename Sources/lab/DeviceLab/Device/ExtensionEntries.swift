enum ExtensionEntries {
    static let categoryName = "apple_validation_category_01"
    static let bundleVersionName = "apple_bundle_version_01"
    static let cdHashName = "apple_cd_hash_hash_01"
    static let cdHashTypeName = "apple_cd_hash_type_01"

    static func category(_ value: UInt32) -> CBORPair { CBORPair(categoryName, littleEndian(value)) }
    static func bundleVersion(_ text: String) -> CBORPair { CBORPair(bundleVersionName, CBORBytes.text(text)) }

    /// A category as devices write it: four bytes, little-endian.
    static func littleEndian(_ value: UInt32) -> [UInt8] {
        CBORBytes.bytes(CBORBytes.bigEndian(UInt64(value.byteSwapped), 4))
    }

    /// The entries that a shape's devices write, in their order.
    static func list(_ traits: ShapeTraits, category: UInt32, bundleVersion: String, cdHash: [UInt8]) -> [CBORPair] {
        (traits.entries ?? []).map { form in
            switch form {
            case .category:
                let name = traits.hasShortNames ? "validationCategory" : categoryName
                return CBORPair(name, littleEndian(category))
            case .categoryInteger: return CBORPair(categoryName, CBORBytes.unsigned(UInt64(category)))
            case .bundleVersion:
                let name = traits.hasShortNames ? "bundleVersion" : bundleVersionName
                return CBORPair(name, CBORBytes.text(bundleVersion))
            case .cdHash: return CBORPair(cdHashName, CBORBytes.bytes(cdHash))
            case .cdHashType: return CBORPair(cdHashTypeName, CBORBytes.bytes([2]))
            }
        }
    }
}
