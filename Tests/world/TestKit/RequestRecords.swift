package import AppAttest
package import AppCheck
internal import Crypto
package import DeviceLab
internal import JSON
package import Streams

/// Builds requests as gateways write them: records whose key is the key ID and whose value is the REST call.
package enum RequestRecords {
    package static let path = "v1/projects/123456789012/apps/1:123456789012:ios:0123456789abcdef"
    package static let time: Int64 = 1_790_000_000_000
    package static var now: EvaluationTime { EvaluationTime(milliseconds: time) }

    /// One app that accepts these App IDs in production.
    package static func registry(
        appIDs: [String] = ["ABCDE12345.com.example.app"],
        clientDataHash: ClientDataHashLength = .standard,
        adjust: (inout Expectations) -> Void = { _ in }
    ) throws -> Registry {
        var expectations = Expectations(appIDs: appIDs.map { AppID($0) })
        adjust(&expectations)
        return try Registry(apps: [
            RegisteredApp(
                projectNumber: "123456789012",
                projectID: "contract-test-1",
                appID: "1:123456789012:ios:0123456789abcdef",
                expectations: expectations,
                clientDataHash: clientDataHash
            )
        ])
    }

    package static func value(
        verb: Verb,
        object: [UInt8],
        keyID: KeyID,
        clientDataHash: [UInt8],
        path: String = Self.path
    ) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("path", path + ":" + verb.rawValue)
        json.key("body")
        json.beginObject()
        json.member("keyId", base64: keyID.bytes)
        json.key(verb == .verifyAttestation ? "attestationStatement" : "assertion")
        json.base64(object)
        json.member("clientDataHash", base64: clientDataHash)
        json.endObject()
        json.endObject()
        return json.bytes
    }

    package static func attestation(
        of device: FakeDevice,
        challenge: UInt8 = 1,
        hash: [UInt8]? = nil,
        fault: AttestationFault? = nil
    ) -> [UInt8] {
        let hash = hash ?? [UInt8](repeating: challenge, count: 32)
        let object = device.attest(
            clientDataHash: hash,
            at: EvaluationTime(milliseconds: time - 1000),
            fault: fault
        )
        return value(verb: .verifyAttestation, object: object, keyID: device.keyID, clientDataHash: hash)
    }

    package static func assertion(
        of device: FakeDevice,
        counter: UInt32,
        hash: [UInt8]? = nil,
        fault: AssertionFault? = nil
    ) -> [UInt8] {
        let hash = hash ?? SHA256.hash([UInt8(truncatingIfNeeded: counter)]).bytes
        let object = device.assertion(clientDataHash: hash, counter: counter, fault: fault)
        return value(verb: .verifyAssertion, object: object, keyID: device.keyID, clientDataHash: hash)
    }

    package static func record(
        _ value: [UInt8]?,
        key: [UInt8]?,
        partition: Int32 = 0,
        offset: Int64,
        id: String? = nil,
        timestamp: Int64 = Self.time
    ) -> InboundRecord {
        InboundRecord(
            topic: "appattest.requests",
            partition: partition,
            offset: offset,
            timestamp: timestamp + offset,
            key: key,
            value: value,
            headers: id.map { [RecordHeader("request-id", $0)] } ?? []
        )
    }

    /// A record that is not a request.
    package static func junk(at offset: Int64) -> InboundRecord { record(Array("junk".utf8), key: nil, offset: offset) }
}
