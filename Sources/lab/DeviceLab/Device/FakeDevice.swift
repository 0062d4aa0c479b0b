package import AppAttest
package import Crypto

/// A fake device with one key in its fake Secure Enclave.
///
/// Same authority, App ID, shape and seed: same key, same bytes, always. The counter rises with each assertion made by
/// ``assert(clientDataHash:fault:)``.
package struct FakeDevice: Sendable {
    package let model: DeviceModel
    package let seed: UInt64
    package let publicKey: P256PublicKey
    package let keyID: KeyID

    /// The counter of the last assertion; the next one has this plus one.
    package var counter: UInt32 = 0
    /// The number of the hardware that the key is on: devices of one number are one device to Apple. nil = the key is the
    /// only one on its hardware, whose receipts do not name it.
    package var hardware: UInt64?

    let key: LabKey

    /// - Parameter key: the one of this seed; nil = it is made here.
    package init(_ model: DeviceModel, seed: UInt64, key: DeviceKey? = nil) {
        let key = key ?? DeviceKey(LabKey(.p256, seed: FakeDevice.keySeed(model.ca, seed)))
        (self.model, self.seed) = (model, seed)
        (self.key, publicKey, keyID) = (key.key, key.publicKey, key.keyID)
    }

    /// A device with a model of its own; see ``DeviceModel`` for the parameters.
    package init(
        ca: LabCA,
        appID: String,
        environment: Environment = .production,
        shape: DeviceShape = .ios27_0_1,
        seed: UInt64,
        category: UInt32? = nil,
        bundleVersion: String = DeviceModel.standardBundleVersion
    ) {
        let model = DeviceModel(
            ca: ca,
            appID: appID,
            environment: environment,
            shape: shape,
            category: category,
            bundleVersion: bundleVersion
        )
        self.init(model, seed: seed)
    }

    static func keySeed(_ ca: LabCA, _ seed: UInt64) -> [UInt8] {
        Array("device".utf8) + ca.secret + CBORBytes.bigEndian(seed, 8)
    }

    package var ca: LabCA { model.ca }
    package var appID: String { model.appID }
    package var environment: Environment { model.environment }
    package var shape: DeviceShape { model.shape }
    package var category: UInt32 { model.category }
    package var bundleVersion: String { model.bundleVersion }

    /// The expectations under which a verifier accepts this device: its App ID and its environment, any entries.
    package var expectations: Expectations { Expectations(appIDs: [AppID(appID)], environments: [environment]) }

    /// A key that belongs to no device, for signatures that must not match.
    var stranger: LabKey { LabKey(.p256, seed: Array("stranger".utf8) + Self.keySeed(ca, seed)) }

    static func aaguid(_ environment: Environment) -> [UInt8] {
        Array((environment == .development ? "appattestdevelop" : "appattest\0\0\0\0\0\0\0").utf8)
    }
}

/// A device's key with what is derived from it.
package struct DeviceKey: Sendable {
    let key: LabKey
    let publicKey: P256PublicKey
    let keyID: KeyID

    init(_ key: LabKey) {
        // A P-256 point has two coordinates of 32 bytes.
        guard let x = Digest(Array(key.x963[1..<33])), let y = Digest(Array(key.x963[33..<65])) else {
            preconditionFailure("a device's key is on P-256")
        }
        self.key = key
        publicKey = P256PublicKey(uncheckedX: x, y: y)
        keyID = KeyID(of: publicKey)
    }
}
