internal import AppAttest
internal import Crypto
internal import DeviceLab

/// The devices that inputs are made by: every shape in both environments, several keys each. Made once, then read only.
struct Pool: Sendable {
    static let appIDs = ["ABCDE12345.com.example.app", "ABCDE12345.com.example.other", "ZYXWV98765.com.example.clip"]

    let anchors: TrustAnchors
    /// Signed by the imitation, which costs two hashes.
    let imitated: [FakeDevice]
    /// The same devices with real signatures.
    let real: [FakeDevice]

    init(seed: UInt64, devicesPerShape: Int) throws {
        let ca = LabCA(seed: seed, signer: OracleSigner())
        anchors = try ca.anchors()
        imitated = Self.devices(ca, devicesPerShape)
        real = Self.devices(ca.with(signer: ECDSASigner()), devicesPerShape)
    }

    private static func devices(_ ca: LabCA, _ count: Int) -> [FakeDevice] {
        var devices: [FakeDevice] = []
        for shape in DeviceShape.allCases {
            for environment in Environment.allCases {
                // Macs have checks of their own, and few shapes.
                for index in 0..<(shape.isMac ? 5 * count : count) {
                    devices.append(
                        FakeDevice(
                            ca: ca,
                            appID: appIDs[index % appIDs.count],
                            environment: environment,
                            shape: shape,
                            seed: UInt64(devices.count),
                            category: UInt32(1 + index % 6),
                            bundleVersion: "\(1000 + index)"
                        )
                    )
                }
            }
        }
        return devices
    }
}
