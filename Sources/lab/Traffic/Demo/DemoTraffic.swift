package import AppAttest
package import AppCheck
package import DeviceLab
package import Streams

/// The demo's input: honest devices of every shape, devices with single faults, and records that are not requests.
package struct DemoTraffic {
    package struct Item {
        package var record: InboundRecord
        /// The item's kind, for the account.
        package var kind: String
        /// The expected outcome: `accepted`, a reason, or a dead letter's reason in brackets.
        package var expected: String
    }

    private static let devices = 40
    private static let records = 600
    private static let faultShare = 0.2

    package let items: [Item]

    /// - Parameters:
    ///   - app: the path's app, as the configuration names it.
    ///   - start: the devices' clock.
    ///   - topic: where no record is placed yet: each item's place is known beforehand.
    package init(ca: LabCA, app: RegisteredApp, start: EvaluationTime, topic: RequestTopic) {
        var plan = FleetPlan(
            ca: ca,
            seed: 1,
            appIDs: app.expectations.appIDs.map(\.text),
            devices: Self.devices,
            records: Self.records,
            start: start
        )
        plan.nanosecondsApart = 1_000
        plan.faultShare = Self.faultShare
        let fleet = FakeFleet(plan)
        let lane = fleet.lane()
        var items = (0..<plan.records).map { Self.item($0, lane.record($0), app) }
        // Junk lies between the honest records: the batch around it must go on.
        for (index, junk) in Self.junk(app, key: lane.device(0).keyID).enumerated() {
            items.insert(junk, at: Self.devices + (index + 1) * 20)
        }
        var topic = topic
        for index in items.indices { topic.place(&items[index].record) }
        self.items = items
    }

    private static func item(_ index: Int, _ record: FleetRecord, _ app: RegisteredApp) -> Item {
        let kind = record.kind.rawValue
        return Item(
            record: record.request(app: app.name, id: "demo-\(index)"),
            kind: record.fault.map { "\(kind) with a fault: \($0.name)" } ?? "honest \(kind)",
            expected: record.fault?.expectedReason ?? "accepted"
        )
    }

    private static func junk(_ app: RegisteredApp, key: KeyID) -> [Item] {
        let path = "v1/\(app.name):verifyAssertion"
        let nested = [UInt8](repeating: 0x81, count: 3000)
        let hash = [UInt8](repeating: 1, count: 32)
        func call(_ path: String, assertion: [UInt8] = [0xA0]) -> [UInt8] {
            let body = [("keyId", key.bytes), ("assertion", assertion), ("clientDataHash", hash)]
            return InboundRecord.request(path: path, body: body)
        }
        let rubbish = Array(#"{"path":"\#(path)","body":{"keyId":"%%","assertion":"?"}}"#.utf8)
        let values: [(kind: String, value: [UInt8]?, expected: String)] = [
            ("null value", nil, "[null-value]"),
            ("text that is not JSON", Array("hello".utf8), "[not-json]"),
            ("bytes that are not UTF-8", [0xFF, 0xFE, 0x80], "[not-json]"),
            ("JSON without a path", Array("{}".utf8), "[no-path]"),
            ("70,000 bytes", Array(repeating: 0x20, count: 70_000), "[too-large]"),
            ("an unknown app", call("v1/projects/1/apps/none:verifyAssertion"), "unknown-app"),
            ("an unknown verb", call("v1/\(app.name):mint"), "unknown-method"),
            ("invalid base64", rubbish, "malformed-request"),
            ("3,000 nested arrays of CBOR", call(path, assertion: nested), "malformed-assertion"),
        ]
        let items = values.map { kind, value, expected in
            Item(record: .unplaced(key: key.recordKey, value: value), kind: kind, expected: expected)
        }
        let foreign = InboundRecord.unplaced(key: Array("another key".utf8), value: call(path))
        return items + [Item(record: foreign, kind: "a record with another key", expected: "key-mismatch")]
    }
}
