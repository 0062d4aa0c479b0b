internal import AppAttest
internal import DeviceLab
internal import JSON
internal import Streams
internal import TestKit
internal import Testing

/// A build of a team that the app does not list: its attestation is refused, and then every assertion.
@Suite("A build of the wrong team")
struct WrongTeamTests {
    private static let wrong = "WRONG12345.com.example.app"
    private static let device = FakeDevice(ca: ReplayFixture.ca, appID: wrong, seed: 4)
    private static let own = FakeDevice(ca: ReplayFixture.ca, appID: ReplayFixture.appleAppID, seed: 5)

    /// The attestation, two assertions, and one of a key that the capture does not attest.
    private static let records = [
        device.record(RequestRecords.attestation(of: device), 0),
        device.record(RequestRecords.assertion(of: device, counter: 1), 1),
        device.record(RequestRecords.assertion(of: device, counter: 2), 2),
        own.record(RequestRecords.assertion(of: own, counter: 1), 3),
    ]

    private static func replay(_ records: [InboundRecord] = records) throws -> (ReplayFixture, [Int64: JSONNode]) {
        let fixture = try ReplayFixture(records)
        try fixture.replayed(["--explain", fixture.file("explained.ndjson"), "--report", fixture.file("report.html")])
        return (fixture, try fixture.explained())
    }

    @Test func `the result's evidence names the App ID, and nothing else`() throws {
        let (fixture, _) = try Self.replay()
        let results = try fixture.results()
        #expect(results.map { $0["reason"]?.string } == ["app-id-mismatch"] + Array(repeating: "unknown-key", count: 3))
        let evidence = try #require(results[0]["evidence"])
        #expect(evidence["presentedAppId"]?.string == Self.wrong && evidence.members.count == 1)
        #expect(results.dropFirst().allSatisfy { $0["evidence"] == nil })
    }

    @Test func `a name that has not the hash that the device signed is none`() throws {
        let value = RequestRecords.attestation(of: Self.own, fault: .otherAppID)
        let (fixture, lines) = try Self.replay([Self.own.record(value, 0)])
        let result = try #require(try fixture.results().first)
        #expect(result["reason"]?.string == "app-id-mismatch" && result["evidence"] == nil)
        #expect(lines[0]?["appleAppId"] == nil)
        #expect(lines[0]?["values"]?.elements[0]["presented"]?.string?.hasSuffix("(of no configured App ID)") == true)
    }

    @Test(arguments: DeviceShape.allCases)
    func `every shape of attestation names its App ID, by its leaf or its receipt`(shape: DeviceShape) {
        let device = FakeDevice(ca: ReplayFixture.ca, appID: Self.wrong, shape: shape, seed: 6)
        let time = RequestRecords.now
        let object = device.attest(clientDataHash: [UInt8](repeating: 1, count: 32), at: time)
        #expect(DeviceTraits(attestation: object).appID == ExactText(Self.wrong))
        #expect(DeviceTraits(assertion: device.assertion(clientDataHash: [1], counter: 1)).appID == nil)
    }

    @Test func `the explanation names the App ID, and of each later assertion first the attestation`() throws {
        let (_, lines) = try Self.replay()
        #expect(lines[0]?["appleAppId"]?.string == Self.wrong && lines[0]?["attestation"] == nil)
        let presented = lines[0]?["values"]?.elements[0]["presented"]?.string
        #expect(presented?.hasSuffix("(\(Self.wrong), which no app lists)") == true)
        for offset in [1, 2] as [Int64] {
            let attestation = try #require(lines[offset]?["attestation"])
            #expect(attestation["reason"]?.string == "app-id-mismatch")
            #expect(attestation["partition"]?.integer == 0 && attestation["offset"]?.integer == 0)
            let first = lines[offset]?["values"]?.elements.first
            #expect(first?["presented"]?.string == "refused: app-id-mismatch, record 0/0")
        }
        #expect(lines[3]?["reason"]?.string == "unknown-key" && lines[3]?["attestation"] == nil)
    }

    @Test func `a key that attests well after a refusal is not unknown`() throws {
        let (fixture, lines) = try Self.replay([
            Self.own.record(RequestRecords.attestation(of: Self.own, challenge: 1, fault: .nonceFlipped), 0),
            Self.own.record(RequestRecords.attestation(of: Self.own, challenge: 2), 1),
            Self.own.record(RequestRecords.assertion(of: Self.own, counter: 1), 2),
        ])
        #expect(try fixture.outcomes() == [0: "nonce-mismatch", 1: "accepted", 2: "accepted"] && lines.count == 1)
    }

    @Test func `the report names the App ID, and says first why the keys are unknown`() throws {
        let (fixture, _) = try Self.replay()
        let page = try fixture.text("report.html")
        #expect(page.contains("<bdi>\(Self.wrong)</bdi></td>"))
        #expect(
            page.contains(
                "2 records of keys whose attestation was refused earlier in this capture: app-id-mismatch 2. "
            )
        )
    }

    @Test func `inspect says first that the attestation was refused, and where`() throws {
        let (fixture, _) = try Self.replay()
        func inspect(_ offset: Int) throws -> String { try fixture.inspect("0/\(offset)").output }
        let line = "The key is unknown since its attestation was refused: app-id-mismatch, record 0/0. "
        #expect(try inspect(2).hasPrefix(line))
        #expect(try !inspect(3).contains("since its attestation") && inspect(3).contains("unknown-key"))
        let root = try fixture.inspect("0/2", ["--json"]).json
        #expect(root["attestation"]?["reason"]?.string == "app-id-mismatch")
        #expect(try inspect(0).contains("authData.appId") && inspect(0).contains(Self.wrong))
    }
}
