import AppAttest
import AppCheck
import DeviceLab
import Streams
import TestKit

/// A replay as a user runs it: a config directory, a capture, the command, the files.
struct ReplayFixture: ReplayFolder {
    static let appleAppID = "ABCDE12345.com.example.app"
    static let ca = LabCA(seed: 21)

    let directory: ConfigurationDirectory
    var path: String { directory.path }
    var config: String { path }

    /// A directory for these Apple App IDs, with anchors as PEM and policies as apps.json members.
    init(
        apps: [(appID: String, appleAppID: String)],
        attestationPEM: [UInt8],
        receiptPEM: [UInt8],
        policies: String = ""
    ) throws {
        let entries = apps.map { app in
            let members = policies.isEmpty ? "" : "," + policies
            return #"{"appId":"\#(app.appID)","appleAppIds":["\#(app.appleAppID)"]\#(members)}"#
        }
        directory = try ConfigurationDirectory(
            worker: #"{"anchors":{"attestation":["a.pem"],"receipt":["r.pem"]}}"#,
            apps: #"{"projects":[{"number":"123456789012","apps":[\#(entries.joined(separator: ","))]}]}"#
        )
        try directory.write("a.pem", attestationPEM)
        try directory.write("r.pem", receiptPEM)
    }

    /// A directory for devices of the lab, and a capture.
    init(_ capture: [InboundRecord] = []) throws {
        try self.init(
            apps: [("1:123456789012:ios:0123456789abcdef", Self.appleAppID)],
            attestationPEM: Self.ca.attestationAnchorsPEM,
            receiptPEM: Self.ca.receiptAnchorPEM
        )
        try write(capture: capture)
    }

    /// Outcome by offset: `accepted` or the reason.
    func outcomes(_ output: String = "out") throws -> [Int64: String] {
        var outcomes: [Int64: String] = [:]
        for record in try captured(output + "/results.ndjson") { outcomes[record.offset] = try record.json.outcome }
        return outcomes
    }
}

extension FakeDevice {
    /// A record of this device's, with its offset in the id.
    func record(_ value: [UInt8], _ offset: Int64, at timestamp: Int64 = RequestRecords.time) -> InboundRecord {
        RequestRecords.record(value, key: keyID.recordKey, offset: offset, id: "r\(offset)", timestamp: timestamp)
    }
}

extension FakeFleet {
    /// Devices of the fixture's app; of what they send later two in five have a fault.
    static func lab(devices: Int = 12, records: Int = 240) -> FakeFleet {
        var plan = FleetPlan(
            ca: ReplayFixture.ca,
            seed: 3,
            appIDs: [ReplayFixture.appleAppID],
            devices: devices,
            records: records,
            start: RequestRecords.now
        )
        plan.faultShare = 0.4
        return FakeFleet(plan)
    }

    /// The records as requests, over four partitions.
    var requests: [InboundRecord] {
        let lane = lane()
        return (0..<plan.records).map { index in
            let record = lane.record(index)
            let value = RequestRecords.value(
                verb: record.kind == .attestation ? .verifyAttestation : .verifyAssertion,
                object: record.object,
                keyID: record.keyID,
                clientDataHash: record.clientDataHash
            )
            return RequestRecords.record(
                value,
                key: record.keyID.recordKey,
                partition: Int32(record.step.device % 4),
                offset: Int64(index),
                id: "request-\(index)",
                timestamp: record.time.milliseconds - Int64(index)
            )
        }
    }
}

extension [InboundRecord] {
    /// The same records, each with a change.
    func changed(_ change: (inout InboundRecord) throws -> Void) rethrows -> [InboundRecord] {
        try map { record in
            var record = record
            try change(&record)
            return record
        }
    }
}
