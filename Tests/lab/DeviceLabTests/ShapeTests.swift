internal import AppAttest
internal import Crypto
internal import Foundation
internal import TestKit
internal import Testing

@testable internal import DeviceLab

@Suite struct ShapeTests {
    private static let sameCA = LabCA(seed: 1)
    private static let otherCA = LabCA(seed: 2)

    @Test(arguments: DeviceShape.allCases)
    func `a device's objects are a function of authority, app, shape and seed`(shape: DeviceShape) {
        let devices = [Lab.device(shape), Lab.device(shape, ca: Self.sameCA)]
        let objects = devices.map { device in
            var device = device
            return [
                device.attest(clientDataHash: Lab.clientDataHash, at: Lab.noon),
                device.assert(clientDataHash: Lab.clientDataHash), device.assert(clientDataHash: Lab.clientDataHash),
                device.receipt(.receipt, clientDataHash: Lab.clientDataHash, at: Lab.noon),
            ]
        }
        #expect(objects[0] == objects[1])
        #expect(objects[0][1] != objects[0][2])
        #expect(Lab.device(shape, seed: 8).keyID != devices[0].keyID)
        #expect(Lab.device(shape, ca: Self.otherCA).keyID != devices[0].keyID)
    }

    /// Sizes of real objects, app-dependent parts aside: attestations have 5.2 to 5.9 KB with their receipt.
    @Test(arguments: DeviceShape.allCases)
    func `objects have the size of real ones`(shape: DeviceShape) {
        let device = Lab.device(shape)
        let attestation = device.attest(clientDataHash: Lab.clientDataHash, at: Lab.noon)
        let assertion = device.assertion(clientDataHash: Lab.clientDataHash, counter: 1)
        #expect((shape.hasReceipt ? 4500...6100 : 1500...2000).contains(attestation.count))
        #expect((130...320).contains(assertion.count))
    }

    @Test func `the map of iOS 27.0.1 has the documented bytes`() {
        let device = FakeDevice(ca: Lab.ca, appID: Lab.appID, environment: .development, seed: 1)
        let expected =
            "a2776170706c655f62756e646c655f76657273696f6e5f30316431333134"
            + "781c6170706c655f76616c69646174696f6e5f63617465676f72795f30314403000000"
        #expect(Hexadecimal.encode(device.model.extensionMap) == expected)
        #expect(device.model.flags == 0xC0)
    }

    @Test func `access control of Macs is Apple's published value`() throws {
        let published = "MEAMAjExMDowCQwCb2uhAwEB/zAJDAJvYaEDAQH/MAsMBG9kZWyhAwEB/zAVDARvc2duoAYMBHJzZWMwBaYDAgEB"
        #expect(Data(LeafExtensions.macPolicy).base64EncodedString() == published)
        let header = LeafExtensions.accessControl(LeafExtensions.macPolicy).prefix(6)
        #expect(Hexadecimal.encode(Array(header)) == "3046a3440442")
    }

    static let counterparts: [(DeviceShape, String)] = [
        (.ios14_0, "att-ios14.0-dev-veehaitch-5648b8.json"), (.ios14_2, "att-ios14.2-dev-veehaitch-439691.json"),
        (.ios15_5, "att-ios15.5-dev-passwordless-lib-e0b309.json"),
        (.ios16_2, "att-ios16.2-prod-a-sit-plus-94a9ba.json"), (.ios16_5, "att-ios16.5-dev-worldcoin-ded1c4.json"),
        (.ios17_5, "att-ios17.5.1-prod-thedhejavu-1b779f.json"),
        (.ios18_3, "att-ios18.3.1-dev-worldcoin-135a6d.json"), (.ios26_1, "att-ios26.1-dev-zcam-dc451a.json"),
        (.ios26_3, "att-ios26.3-dev-worldcoin-412331.json"), (.ios27_0_1, "att-ios27.0.1-dev-ricardo-0fefb3.json"),
        (.macos27_0, "att-macosx27.0-prod-hellas-81bc52.json"),
    ]

    @Test(.enabled(if: Vectors.arePresent, Vectors.absence), arguments: counterparts)
    func `a leaf has the extensions of Apple's leaf of that version`(shape: DeviceShape, name: String) throws {
        let vector = try #require(Vectors.named(name))
        let environment: AppAttest.Environment = vector.environment == "production" ? .production : .development
        let appID = try #require(vector.appID)
        let device = FakeDevice(ca: Lab.ca, appID: appID, environment: environment, shape: shape, seed: 1)
        let mine = device.attest(clientDataHash: Lab.clientDataHash, at: Lab.noon)
        for oid in [OID.keyProperties, OID.accessControl, OID.extendedKeyUsage] {
            #expect(Self.value(oid, in: mine) == Self.value(oid, in: vector.objectBytes))
        }
        // Except for versions, the system information has the same members.
        let system = [mine, vector.objectBytes].map { Self.tags(in: Self.value(OID.osInformation, in: $0) ?? []) }
        #expect(system[0] == system[1] && !system[0].isEmpty)
        #expect(Self.order(mine) == Self.order(vector.objectBytes))
    }

    /// The content of the OCTET STRING after the first occurrence of the identifier.
    private static func value(_ oid: [UInt8], in object: [UInt8]) -> [UInt8]? {
        guard let start = Data(object).firstRange(of: Data(oid))?.upperBound, object[start] == 4 else { return nil }
        let isLong = object[start + 1] == 0x81
        let count = Int(object[start + (isLong ? 2 : 1)])
        return Array(object[(start + (isLong ? 3 : 2))...].prefix(count))
    }

    /// The context tags of `SEQUENCE { [n] … }`, in order, as they are written.
    private static func tags(in value: [UInt8]) -> [[UInt8]] {
        var tags: [[UInt8]] = []
        var offset = value.count > 1 && value[1] == 0x81 ? 3 : 2
        while offset < value.count {
            let end = value[offset] & 31 == 31 ? value[(offset + 1)...].firstIndex { $0 < 0x80 } ?? offset : offset
            tags.append(Array(value[offset...end]))
            offset = end + 2 + Int(value[end + 1])
        }
        return tags
    }

    /// Where the leaf's extensions begin, sorted: the order of their identifiers.
    private static func order(_ object: [UInt8]) -> [[UInt8]] {
        let known = [
            OID.basicConstraints, OID.keyUsage, OID.extendedKeyUsage, OID.keyProperties, OID.osInformation,
            OID.nonce, OID.accessControl,
        ]
        let found = known.compactMap { oid in
            Data(object).firstRange(of: Data(oid)).map { (oid, $0.lowerBound) }
        }
        return found.sorted { $0.1 < $1.1 }.map(\.0)
    }
}
