internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import JSON
internal import Pipeline
internal import Streams

/// Honest devices' objects with real signatures, and what they are verified by: made before any clock starts.
struct Fixtures {
    static let appID = "ABCDE12345.com.example.app"
    static let appPath = "projects/123456789012/apps/1:123456789012:ios:0123456789abcdef"

    let anchors: TrustAnchors
    let devices: [FakeDevice]
    let time = EvaluationTime(milliseconds: 1_795_176_000_000)
    let clientDataHash = SHA256.hash(Array("client data".utf8)).bytes
    let assertions: [[UInt8]]
    let attestations: [[UInt8]]
    let receipts: [[UInt8]]
    /// Requests to verify the assertions, as records carry them.
    let values: [[UInt8]]

    /// Some device's.
    static let onePublicKey = FakeDevice(ca: LabCA(seed: 1), appID: appID, shape: .ios27_0_1, seed: 0).publicKey

    /// - Parameter count: devices, each with an object of each kind.
    init(count: Int) throws {
        let ca = LabCA(seed: 1)
        let hash = clientDataHash
        let time = time
        anchors = try ca.anchors()
        devices = (0..<count).map { FakeDevice(ca: ca, appID: Self.appID, shape: .ios27_0_1, seed: UInt64($0)) }
        assertions = devices.map { $0.assertion(clientDataHash: hash, counter: 1) }
        attestations = devices.map { $0.attest(clientDataHash: hash, at: time) }
        receipts = devices.map { $0.receipt(.attest, clientDataHash: hash, at: time) }
        values = zip(devices, assertions).map { Self.value($1, of: $0, hash) }
    }

    var expectations: Expectations { Expectations(appIDs: [AppID(Self.appID)]) }

    /// The same signatures in OpenSSL's own form.
    func bareSamples() -> [BareVerify.Sample] {
        let verifier = ObjectVerifier(anchors: anchors)
        return zip(devices, assertions).map { device, object in
            let prepared = verifier.prepareAssertion(
                object,
                clientDataHash: clientDataHash,
                key: device.publicKey,
                expectations: expectations
            )
            guard case .p256(let key, let digest, let signature)? = prepared.checks.first else {
                preconditionFailure("an assertion has one signature")
            }
            return BareVerify.Sample(key: key, digest: digest, signature: signature)
        }
    }

    func registry(_ tokens: TokenSettings = TokenSettings()) throws -> Registry {
        let app = RegisteredApp(
            projectNumber: "123456789012",
            projectID: "contract-test-1",
            appID: "1:123456789012:ios:0123456789abcdef",
            expectations: expectations,
            tokens: tokens
        )
        return try Registry(apps: [app])
    }

    /// The key's record, as if by the device's attestation.
    func keyRecord(of device: FakeDevice) -> KeyRecord {
        KeyRecord(
            publicKey: device.publicKey,
            counter: 0,
            app: Self.appPath,
            appleAppID: Self.appID,
            environment: .production,
            registeredAt: time
        )
    }

    func record(_ value: [UInt8], of device: FakeDevice, _ number: Int, _ place: RecordPlace) -> InboundRecord {
        InboundRecord(
            topic: "appattest.requests",
            partition: place.partition,
            offset: place.offset,
            timestamp: time.milliseconds,
            key: device.keyID.recordKey,
            value: value,
            headers: [RecordHeader("request-id", "request-\(number)")]
        )
    }

    static func value(_ assertion: [UInt8], of device: FakeDevice, _ hash: [UInt8]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("path", "v1/\(appPath):verifyAssertion")
        writer.key("body")
        writer.beginObject()
        writer.member("assertion", base64: assertion)
        writer.member("keyId", base64: device.keyID.bytes)
        writer.member("clientDataHash", base64: hash)
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }
}
