internal import DeviceLab
internal import JSON
internal import Reports
internal import Streams
internal import TestKit
internal import Testing

/// A capture of an hour; from a time on another team's build attests too.
@Suite("The diagnosis of a replay")
struct ReplayDiagnosisTests {
    private static let wrong = "WRONG12345.com.example.app"

    /// - Parameter others: devices of the other team, from 14:40 on, each 9 s after the one before.
    private static func replay(others: Int) throws -> (page: String, root: JSONNode, schema: String?) {
        var records: [InboundRecord] = []
        // It asks so many seconds after the capture's beginning.
        func add(_ device: FakeDevice, _ counter: UInt32?, at seconds: Int64) {
            let assertion = counter.map { RequestRecords.assertion(of: device, counter: $0) }
            let (value, offset) = (assertion ?? RequestRecords.attestation(of: device), Int64(records.count))
            records.append(device.record(value, offset, at: RequestRecords.time + seconds * 1000 - offset))
        }
        for index in 0..<180 as Range<Int64> {
            let device = FakeDevice(ca: ReplayFixture.ca, appID: ReplayFixture.appleAppID, seed: UInt64(index + 1))
            add(device, nil, at: index * 15)
            add(device, 1, at: index * 15 + 300)
            // One of thirty sends the same again.
            if index % 30 == 7 { add(device, 1, at: index * 15 + 400) }
        }
        for index in 0..<Int64(others) {
            let device = FakeDevice(ca: ReplayFixture.ca, appID: wrong, seed: UInt64(10_000 + index))
            add(device, nil, at: 1600 + index * 9)
            add(device, 1, at: 1610 + index * 9)
        }
        let fixture = try ReplayFixture(records)
        let root = try fixture.replayed(["--report", fixture.file("report.html"), "--json"]).json
        let schema = SchemaCheck(isClosed: true).violation(of: root, by: Report.schema).map { "\($0)" }
        return (try fixture.text("report.html"), root, schema)
    }

    @Test func `devices of another App ID, from a time on, are the first sentence of the report`() throws {
        let (page, root, schema) = try Self.replay(others: 150)
        let sentence =
            "All 150 devices that present the App ID \(Self.wrong) were refused with app-id-mismatch, from 14:40 on; "
            + "none of them was ever accepted. Of the other 180 devices: none."
        let findings = try #require(root["diagnosis"]?["findings"]?.elements)
        #expect(findings.count == 1 && findings[0]["sentence"]?.string == sentence)
        #expect(schema == nil)
        #expect(findings[0]["from"]?.integer == RequestRecords.time + 1_600_000 && findings[0]["until"] == nil)
        #expect(findings[0]["trait"]?["value"]?.string == Self.wrong)
        let reasons = findings[0]["reasons"]?.elements.map { $0["reason"]?.string }
        #expect(reasons == ["app-id-mismatch", "unknown-key"])
        #expect(root["sections"]?.elements.first?["id"]?.string == "diagnosis")
        #expect(page.contains("<p class=\"lead\">\(sentence)</p>"))
        #expect(page.contains("<dt><bdi>also refused</bdi></dt><dd><bdi>unknown-key (150 devices)</bdi></dd>"))
        let first = try #require(page.firstRange(of: "<section id=\"diagnosis\">"))
        #expect(page.firstRange(of: "<section")?.lowerBound == first.lowerBound)
    }

    @Test func `refusals that have nothing in common are said to be so`() throws {
        let (page, root, schema) = try Self.replay(others: 0)
        #expect(root["diagnosis"]?["findings"]?.elements.isEmpty == true && schema == nil)
        #expect(page.contains("Refusals do not depend on app, App ID, version, system, category, environment or time"))
    }
}
