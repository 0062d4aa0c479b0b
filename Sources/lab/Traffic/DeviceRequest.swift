internal import AppAttest
internal import AppCheck
internal import DeviceLab
internal import JSON
internal import Streams

extension InboundRecord {
    /// A record that has no topic, place and time yet.
    static func unplaced(
        key: [UInt8]? = nil,
        value: [UInt8]? = nil,
        headers: [RecordHeader] = []
    ) -> InboundRecord {
        InboundRecord(topic: "", partition: 0, offset: 0, timestamp: 0, key: key, value: value, headers: headers)
    }

    /// The request for a device's object as a gateway writes it.
    ///
    /// - Parameter id: its `request-id`.
    static func request(
        _ kind: FleetPlan.ObjectKind,
        _ object: [UInt8],
        of keyID: KeyID,
        hash: [UInt8],
        app: String,
        id: String
    ) -> InboundRecord {
        let name = kind == .attestation ? "attestationStatement" : "assertion"
        let body = [(name, object), ("keyId", keyID.bytes), ("clientDataHash", hash)]
        return .unplaced(
            key: keyID.recordKey,
            value: request(path: "v1/\(app):\(kind.verb.rawValue)", body: body),
            headers: [RecordHeader("request-id", id)]
        )
    }

    /// A request's value.
    static func request(path: String, body: [(String, [UInt8])]) -> [UInt8] {
        var json = JSONWriter(capacity: body.reduce(384) { $0 + $1.1.count * 4 / 3 })
        json.beginObject()
        for (name, bytes) in body {
            json.key(named: name)
            json.base64(bytes)
        }
        json.endObject()
        return StockCall.record(path: path, body: json.takeBytes())
    }
}

extension FleetRecord {
    /// - Parameter id: the `request-id`.
    func request(app: String, id: String) -> InboundRecord {
        var record = InboundRecord.request(kind, object, of: keyID, hash: clientDataHash, app: app, id: id)
        record.timestamp = time.milliseconds
        return record
    }
}

extension FleetPlan.ObjectKind {
    var verb: Verb { self == .attestation ? .verifyAttestation : .verifyAssertion }
}
