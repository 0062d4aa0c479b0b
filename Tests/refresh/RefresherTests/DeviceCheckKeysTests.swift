import AppCheck
import Crypto
import JSON
import Risk
import Settings
import TestKit
import Testing

@testable import Refresher

@Suite("DeviceCheck keys")
struct DeviceCheckKeysTests {
    private static let one = #""risk":{"keys":[{"team":"T1","kid":"K1","file":"1.p8"}]}"#
    private static let two = """
        "risk":{"keys":[{"team":"T1","kid":"K1","file":"1.p8"},
                        {"team":"T2","kid":"K2","file":"2.p8","appIDPrefixes":["P1","P2"]}]}
        """
    /// Lists of the exchange whose files are nowhere.
    private static let others = """
        ,"signingKeys":[{"kid":"s","algorithm":"ES256","file":"gone.pem"}],"sealingKeys":[{"id":"s","file":"gone"}],
        "challenges":{"keys":[{"id":"c","file":"gone"}]}
        """

    private struct NoKey: Error {}

    private static func load(_ directory: KeyDirectory) throws(ConfigurationFault) -> [ProviderKey] {
        try DeviceCheckKeys.load(try Configuration.load(directory: directory.path))
    }

    private static func fault(_ directory: KeyDirectory) -> String? {
        do throws(ConfigurationFault) {
            _ = try load(directory)
            return nil
        } catch { return error.message.replacing(directory.path, with: "DIR") }
    }

    @Test func `keys are read with their prefixes, and no other key file is opened`() throws {
        let directory = try KeyDirectory(Self.two + Self.others)
        try directory.write("1.p8", KeyText.p256)
        try directory.write("2.p8", try SigningKey.generate(.p256).pem)
        let keys = try Self.load(directory)
        #expect(keys.map(\.team) == ["T1", "T2"] && keys.map(\.kid) == ["K1", "K2"])
        #expect(keys[0].speaks(forAppID: "T1.b") && !keys[0].speaks(forAppID: "P1.b"))
        #expect(keys[1].speaks(forAppID: "P2.b") && !keys[1].speaks(forAppID: "T2.b"))
    }

    @Test func `a worker and a gateway start without these files`() throws {
        let directory = try KeyDirectory(Self.one)
        _ = try directory.load()
        _ = try LoadedGateway.load(directory: directory.path)
        #expect(Self.fault(directory) != nil)
    }

    @Test(
        arguments: [
            (.p384, "is not a key on P-256; name the .p8 file as Apple made it."),
            (.rsa, "is an RSA key, not one on P-256; name the .p8 file as Apple made it."),
            (.encrypted, "is not an unencrypted private key in PEM; name the .p8 file as Apple made it."),
            (.empty, "is not an unencrypted private key in PEM; name the .p8 file as Apple made it."),
        ] as [(KeyContent, String)]
    )
    private func `a key of another kind is refused by name`(content: KeyContent, problem: String) throws {
        let directory = try KeyDirectory(Self.one)
        try directory.write("1.p8", content.text)
        #expect(Self.fault(directory) == "worker.json: DeviceCheck key K1: DIR/1.p8 \(problem)")
    }

    @Test func `a key without its private half is refused`() throws {
        let directory = try KeyDirectory(Self.one)
        guard case .p256(let key) = try SigningKey.generate(.p256).publicKey.parameters else { throw NoKey() }
        // SubjectPublicKeyInfo of a point on P-256.
        let head: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ]
        let text = String(decoding: Base64.encode(head + key.x963), as: UTF8.self)
        try directory.write("1.p8", "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n")
        let fault = try #require(Self.fault(directory))
        #expect(fault.hasPrefix("worker.json: DeviceCheck key K1: DIR/1.p8 is a public key; "), "\(fault)")
    }

    @Test func `a missing file, an open one and a key of two teams are refused`() throws {
        let directory = try KeyDirectory(Self.two)
        #expect(Self.fault(directory)?.contains("DIR/1.p8 is missing; fix the path, or put the key there") == true)
        try directory.write("1.p8", KeyText.p256, mode: 0o644)
        #expect(Self.fault(directory)?.contains("DIR/1.p8 is open to others (mode 644)") == true)
        try directory.write("1.p8", KeyText.p256)
        try directory.write("2.p8", KeyText.p256)
        #expect(Self.fault(directory) == "worker.json: DeviceCheck key K2: DIR/2.p8 is the key of team T1 again.")
    }

    @Test(
        arguments: [("report", "ABCDE12345", nil), ("off", "T9", nil), ("report", "T9", "ABCDE12345")]
            as [(String, String, String?)]
    )
    func `an app that keeps receipts needs a key for its prefix`(mode: String, team: String, missing: String?) throws {
        let directory = try KeyDirectory(
            #""topics":{"receipts":"receipts"},"risk":{"keys":[{"team":"\#(team)","kid":"K","file":"k"}]}"#,
            app: #""appleAppIds":["ABCDE12345.b"],"risk":{"mode":"\#(mode)"}"#
        )
        let configuration = try Configuration.load(directory: directory.path)
        var fault: ConfigurationFault?
        do throws(ConfigurationFault) { try DeviceCheckKeys.checkApps(configuration) } catch { fault = error }
        #expect((fault == nil) == (missing == nil))
        let start = "worker.json: risk.keys: no key serves ABCDE12345, the prefix of ABCDE12345.b in app a, "
        if let fault { #expect(fault.message.hasPrefix(start), "\(fault.message)") }
    }
}
