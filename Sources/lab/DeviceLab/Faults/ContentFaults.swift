internal import AppAttest
internal import Crypto

/// Faults of what attestations and assertions say alike: App ID and extension map.
extension ObjectFault where Object: CBORObject, Object.Reason == Refusal {
    static var appIDRows: [Self] {
        [
            appID("other-app-id") { _ in "0000000000.lab.other" },
            appID("app-id-case") { $0.swappingCase() },
        ]
    }

    /// Faults of the map as a whole.
    static var mapRows: [Self] {
        shared([
            map("rest-garbage") { $0 = [0xFF, 0xFF] },
            map("rest-trailing-byte") { $0.append(0) },
            map("rest-two-maps") { $0 += $0 },
            map("rest-not-map", CBORDamage.wrap),
            map("rest-truncated") { $0.removeLast() },
            map("rest-indefinite", CBORDamage.indefinite).of(.attestation),
            entries("rest-duplicate-entry") { $0.append($0[0]) },
            map("rest-tagged", CBORDamage.tag).of(.attestation),
        ])
    }

    static var mapCutOff: Self { draft("map-cut-off", Object.malformed) { $0.authData.announce(map: []) } }

    /// A map that its caller puts before the hash; with the hash alone an attestation's nonce is no longer Apple's.
    static func mapMoved(_ edit: @escaping @Sendable (inout Object) -> Void) -> Self {
        parts("map-moved", Object.malformed, edit).on(\.setsEDFlag)
    }

    /// Faults of an entry's type.
    static var entryRows: [Self] {
        shared([
            entries("category-as-text") { $0.setCategory(CBORBytes.text("4")) },
            entries("category-three-bytes") { $0.setCategory(CBORBytes.bytes([4, 0, 0])) },
            entries("category-five-bytes") { $0.setCategory(CBORBytes.bytes([4, 0, 0, 0, 0])) }.of(.attestation),
            entries("category-too-big") { $0.setCategory(CBORBytes.unsigned(1 << 32)) }.of(.attestation),
            entries("category-negative") { $0.setCategory([0x23]) }.of(.attestation),
            entries("bundle-version-as-bytes") { $0.setBundleVersion(CBORBytes.bytes(Array("1314".utf8))) },
            entries("bundle-version-as-number") { $0.setBundleVersion(CBORBytes.unsigned(1314)) }.of(.attestation),
        ])
    }

    /// Values that an app's policy refuses.
    static var policyRows: [Self] {
        shared([
            entries("category-missing", .categoryMissing) { $0.removeCategory() }.under(.category),
            // 9 is reserved and never appropriate.
            entries("category-other", .categoryNotAllowed) { $0.setCategory(ExtensionEntries.littleEndian(9)) }
                .under(.category),
            entries("category-big-endian", .categoryNotAllowed) { $0.setCategory(CBORBytes.bytes([0, 0, 0, 4])) }
                .under(.category).of(.attestation),
            entries("bundle-version-missing", .bundleVersionMissing) { $0.removeBundleVersion() }
                .under(.bundleVersion),
            entries("bundle-version-other", .bundleVersionNotAllowed) { $0.setBundleVersion(CBORBytes.text("0")) }
                .under(.bundleVersion),
        ])
    }

    static func appID(_ name: String, _ other: @escaping @Sendable (String) -> String) -> Self {
        draft(name, .appIDMismatch) { $0.authData.rpIDHash = AppID(other($0.device.appID)).rpIDHash.bytes }
    }

    private static func map(_ name: String, _ edit: @escaping @Sendable (inout [UInt8]) -> Void) -> Self {
        draft(name, Object.malformedAuthData) {
            $0.announce(map: CBORBytes.map($0.device.entriesForFaults))
            edit(&$0.authData.extensions)
        }
    }

    private static func entries(
        _ name: String,
        _ expected: Refusal = Object.malformedAuthData,
        _ edit: @escaping @Sendable (inout [CBORPair]) -> Void
    ) -> Self {
        draft(name, expected) {
            var entries = $0.device.entriesForFaults
            edit(&entries)
            $0.announce(map: CBORBytes.map(entries))
        }
    }
}

extension CBORObject {
    /// The reason for damage inside of authenticator data.
    fileprivate static var malformedAuthData: Refusal {
        subject == .attestation ? .malformedAuthData : .malformedAssertion
    }
}

extension FakeDevice {
    /// The map that this device signs; empty where it has none.
    package var extensionMap: [UInt8] { model.extensionMap }

    /// This device's entries; for shapes without a map (or without the two known entries), those that it could have.
    var entriesForFaults: [CBORPair] {
        var entries = model.extensionEntries
        if !shape.hasBundleVersion { entries.append(ExtensionEntries.bundleVersion(bundleVersion)) }
        if !shape.hasCategory { entries.append(ExtensionEntries.category(category)) }
        return entries
    }
}

extension [CBORPair] {
    private static let categoryNames = [ExtensionEntries.categoryName, "validationCategory"]
    private static let bundleVersionNames = [ExtensionEntries.bundleVersionName, "bundleVersion"]

    fileprivate mutating func setCategory(_ value: [UInt8]) { Self.categoryNames.forEach { set($0, value) } }
    fileprivate mutating func removeCategory() { Self.categoryNames.forEach { remove($0) } }
    fileprivate mutating func setBundleVersion(_ value: [UInt8]) { Self.bundleVersionNames.forEach { set($0, value) } }
    fileprivate mutating func removeBundleVersion() { Self.bundleVersionNames.forEach { remove($0) } }
}

extension String {
    func swappingCase() -> String {
        String(map { $0.isUppercase ? Character($0.lowercased()) : Character($0.uppercased()) })
    }
}
