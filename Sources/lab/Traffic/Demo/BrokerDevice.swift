package import AppAttest
package import AppCheck
package import DeviceLab
package import Streams

/// One piece of hardware that attests for others: many keys of one app.
package struct BrokerDevice {
    private static let seed: UInt64 = 9_000_000
    private static let clientDataHash = [UInt8](repeating: 7, count: 32)

    private let keys: [FakeDevice]
    private let app: RegisteredApp

    /// - Parameters:
    ///   - app: the path's app, as the configuration names it; it has an Apple App ID.
    ///   - count: of keys.
    package init(ca: LabCA, app: RegisteredApp, keys count: Int) {
        precondition(!app.expectations.appIDs.isEmpty, "the app has an Apple App ID")
        let appID = app.expectations.appIDs[0].text
        keys = (0..<count).map { index in
            var key = FakeDevice(ca: ca, appID: appID, seed: Self.seed + UInt64(index))
            key.hardware = 1
            return key
        }
        self.app = app
    }

    package var keyIDs: [KeyID] { keys.map(\.keyID) }

    /// The attestation of each key, with its receipt.
    package func attestations(at time: EvaluationTime) -> [InboundRecord] {
        keys.map { record($0, .attestation, $0.attest(clientDataHash: Self.clientDataHash, at: time)) }
    }

    /// The first assertion of each key.
    package func assertions() -> [InboundRecord] {
        keys.map { record($0, .assertion, $0.assertion(clientDataHash: Self.clientDataHash, counter: 1)) }
    }

    /// The `request-id` of a key's assertion.
    package static func assertionID(of keyID: KeyID) -> String { id(keyID, .assertion) }

    private static func id(_ keyID: KeyID, _ kind: FleetPlan.ObjectKind) -> String {
        "broker-\(String(decoding: keyID.recordKey.prefix(6), as: UTF8.self))-\(kind.verb)"
    }

    private func record(_ key: FakeDevice, _ kind: FleetPlan.ObjectKind, _ object: [UInt8]) -> InboundRecord {
        let (id, hash) = (Self.id(key.keyID, kind), Self.clientDataHash)
        return .request(kind, object, of: key.keyID, hash: hash, app: app.name, id: id)
    }
}
