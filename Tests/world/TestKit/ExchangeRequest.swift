internal import AppAttest
internal import AppCheck
internal import Crypto
package import DeviceLab
internal import JSON
package import Streams

/// A request as a gateway writes it, not yet at its place in the topic.
package struct ExchangeRequest: Sendable {
    package var value: [UInt8]
    package var key: [UInt8]?
    /// The header `request-id`; nil = the rig gives one.
    package var id: String?
    package var headers: [RecordHeader] = []
    /// nil = where the key lies; 0 without a key.
    package var partition: Int32?
    /// nil = the rig's present time.
    package var timestamp: Int64?

    package init(_ value: [UInt8], key: [UInt8]? = nil, headers: [RecordHeader] = []) {
        (self.value, self.key, self.headers) = (value, key, headers)
    }

    package func with(id: String) -> ExchangeRequest {
        var request = self
        request.id = id
        return request
    }

    package func with(headers: [RecordHeader]) -> ExchangeRequest {
        var request = self
        request.headers = headers
        return request
    }

    package func at(_ timestamp: Int64) -> ExchangeRequest {
        var request = self
        request.timestamp = timestamp
        return request
    }

    /// What Apple answered to the exchange of a device's receipt.
    ///
    /// - Parameter exchanged: the member's JSON; nil = it is absent.
    package static func receipt(
        _ receipt: [UInt8],
        of device: FakeDevice,
        exchanged: String? = nil,
        resource: String = ExchangeKit.resource
    ) -> Self {
        var json = JSONWriter()
        json.beginObject()
        json.member("keyId", base64: device.keyID.bytes)
        json.member("receipt", base64: receipt)
        if let exchanged { json.member("exchanged", raw: Array(exchanged.utf8)) }
        json.endObject()
        return Self(value("v1/\(resource):verifyReceipt", body: json.bytes), key: device.keyID.recordKey)
    }

    package static func challenge(_ resource: String = ExchangeKit.resource, version: String = "v1") -> Self {
        Self(value("\(version)/\(resource):generateAppAttestChallenge", body: nil))
    }

    /// As the iOS SDK writes it.
    package static func debug(
        _ secret: String,
        limitedUse: Bool = false,
        resource: String = ExchangeKit.resource,
        version: String = "v1"
    ) -> Self {
        let body = #"{"debug_token":"\#(secret)","limited_use":\#(limitedUse)}"#
        return Self(Array(#"{"path":"\#(version)/\#(resource):exchangeDebugToken","body":\#(body)}"#.utf8))
    }

    /// - Parameter hashed: the bytes that the device hashes instead of the challenge.
    package static func attestation(
        of device: FakeDevice,
        challenge: [UInt8],
        hashed: [UInt8]? = nil,
        limitedUse: Bool = false,
        resource: String = ExchangeKit.resource,
        version: String = "v1",
        at time: Int64 = ExchangeKit.start - 1000,
        fault: AttestationFault? = nil
    ) -> Self {
        let object = device.attest(
            clientDataHash: SHA256.hash(hashed ?? challenge).bytes,
            at: EvaluationTime(milliseconds: time),
            fault: fault
        )
        let body = Self.body(
            [
                ("attestationStatement", object), ("challenge", challenge), ("keyId", device.keyID.bytes),
            ],
            limitedUse
        )
        return Self(
            value("\(version)/\(resource):exchangeAppAttestAttestation", body: body),
            key: device.keyID.recordKey
        )
    }

    /// The device's next assertion.
    ///
    /// - Parameter hashed: the bytes that the device hashes instead of artifact ‖ challenge.
    package static func assertion(
        of device: inout FakeDevice,
        artifact: [UInt8],
        challenge: [UInt8],
        hashed: [UInt8]? = nil,
        limitedUse: Bool = false,
        resource: String = ExchangeKit.resource,
        version: String = "v1",
        fault: AssertionFault? = nil
    ) -> Self {
        let hash = SHA256.hash(hashed ?? artifact + challenge).bytes
        let object = device.assert(clientDataHash: hash, fault: fault)
        let body = Self.body([("artifact", artifact), ("assertion", object), ("challenge", challenge)], limitedUse)
        return Self(
            value("\(version)/\(resource):exchangeAppAttestAssertion", body: body),
            key: device.keyID.recordKey
        )
    }

    /// verifyAppCheckToken; the record key is the `jti` that the token claims.
    package static func verification(
        of token: String,
        project: String = "projects/contract-test-1",
        key: [UInt8]? = nil
    ) -> Self {
        var json = JSONWriter()
        json.beginObject()
        json.member("app_check_token", token)
        json.endObject()
        let claimed = ExchangeToken(token).map { Array($0.id.utf8) }
        return Self(value("v1beta/\(project):verifyAppCheckToken", body: json.takeBytes()), key: key ?? claimed)
    }

    /// `{"path": …, "body": …}`.
    package static func value(_ path: String, body: [UInt8]?) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("path", path)
        if let body { json.member("body", raw: body) }
        json.endObject()
        return json.takeBytes()
    }

    private static func body(_ members: [(String, [UInt8])], _ limitedUse: Bool) -> [UInt8] {
        let texts = members.map { "\"\($0)\":\"\(String(decoding: Base64.encode($1), as: UTF8.self))\"" }
        return Array("{\(texts.joined(separator: ",")),\"limitedUse\":\(limitedUse)}".utf8)
    }
}
