package import AppAttest
internal import Crypto

/// The common parts of all devices of one authority, app and shape, encoded once.
package final class DeviceModel: Sendable {
    package static let standardBundleVersion = "1314"

    package let ca: LabCA
    package let appID: String
    package let environment: Environment
    package let shape: DeviceShape
    /// The validation category that the app has on these devices.
    package let category: UInt32
    /// CFBundleVersion.
    package let bundleVersion: String

    let traits: ShapeTraits
    let rpIDHash: [UInt8]
    let flags: UInt8
    /// The entries that follow the fixed part of authenticator data, and the map of them; empty without a map.
    let extensionEntries: [CBORPair]
    let extensionMap: [UInt8]
    /// The unsigned `cdHash` value of iOS 18.5 to 26 with the opt-in.
    let unsignedCDHash: CBORPair?
    /// The leaf's extensions, the nonce's value still empty.
    let leafExtensions: [CertificateExtension]

    /// - Parameters:
    ///   - category: nil = that of such an app: 4 (App Store) in production, 3 in development, 6 on a Mac.
    ///   - bundleVersion: CFBundleVersion.
    package init(
        ca: LabCA,
        appID: String,
        environment: Environment = .production,
        shape: DeviceShape = .ios27_0_1,
        category: UInt32? = nil,
        bundleVersion: String = DeviceModel.standardBundleVersion
    ) {
        let category = category ?? (environment == .development ? 3 : shape.isMac ? 6 : 4)
        let traits = shape.traits
        // The hash of the app's code directory: the same on all devices that run the same build.
        let cdHash = SHA256.hash(Array("\(appID) \(bundleVersion)".utf8)).bytes
        let entries = ExtensionEntries.list(
            traits,
            category: category,
            bundleVersion: bundleVersion,
            cdHash: cdHash
        )
        (self.ca, self.appID, self.environment, self.shape) = (ca, appID, environment, shape)
        (self.category, self.bundleVersion, self.traits) = (category, bundleVersion, traits)
        rpIDHash = AppID(appID).rpIDHash.bytes
        flags = traits.hasEDFlag ? 0xC0 : 0x40
        extensionEntries = entries
        extensionMap = traits.entries == nil ? [] : CBORBytes.map(entries)
        unsignedCDHash = traits.hasCDHashKey ? Self.unsigned(cdHash) : nil
        leafExtensions = LeafExtensions.list(traits, appID: appID)
    }

    private static func unsigned(_ cdHash: [UInt8]) -> CBORPair {
        let value = CBORBytes.map([
            CBORPair("hash", CBORBytes.bytes(Array(cdHash.prefix(20)))), CBORPair("type", CBORBytes.bytes([2])),
        ])
        return CBORPair("cdHash", value)
    }
}
