import Foundation
import HTTP
import JSON
import Pipeline
import Settings
import TestKit
import Testing

@testable import Telemetry

@Suite("Metrics and health over HTTP")
struct EndpointsTests {
    private static func monitor() throws -> WorkerMonitor {
        let directory = try KeyDirectory.complete()
        let root = "Config/anchors/Apple_App_Attestation_Root_CA.pem"
        let apple = try Data(contentsOf: PackageFolder.url.appending(path: root))
        try directory.write("root.pem", [UInt8](apple))
        return WorkerMonitor(try directory.load(), version: "1", engine: "openssl", group: "attest")
    }

    private static func get(_ endpoints: Endpoints, _ path: String, _ accept: String? = nil) -> (Int, String, String) {
        let answer = endpoints.answer(HTTPRequest(path: path, accept: accept))
        return (answer.status, answer.contentType, String(decoding: answer.body, as: UTF8.self))
    }

    @Test func `before the loops run a worker is healthy and not ready, and says why`() throws {
        let monitor = try Self.monitor()
        let endpoints = Endpoints(monitor)
        #expect(Self.get(endpoints, "/healthz").0 == 200)
        #expect(Self.get(endpoints, "/readyz") == (503, "application/json", "{\"state\":\"starting\"}\n"))
        monitor.noteWaiting()
        let waiting = #"{"state":"waiting_for_broker","reason":"the broker has not answered yet"}"# + "\n"
        #expect(Self.get(endpoints, "/readyz") == (503, "application/json", waiting))
        monitor.noteStopping()
        #expect(Self.get(endpoints, "/readyz") == (503, "application/json", "{\"state\":\"stopping\"}\n"))
        for path in ["/", "", "/metrics/", "/Metrics", "/../metrics"] { #expect(Self.get(endpoints, path).0 == 404) }
    }

    @Test func `the format follows Accept, and close scrapes get the same text`() throws {
        let endpoints = Endpoints(try Self.monitor())
        let text = Self.get(endpoints, "/metrics")
        #expect(text.0 == 200 && text.1 == "text/plain; version=0.0.4; charset=utf-8")
        let open = Self.get(endpoints, "/metrics", "application/openmetrics-text;version=1.0.0")
        #expect(open.1 == "application/openmetrics-text; version=1.0.0; charset=utf-8" && open.2.hasSuffix("\n# EOF\n"))
        let keys = text.2.split(separator: "\n").filter {
            $0.hasPrefix("attest_signing_key_published_timestamp_seconds{")
        }
        #expect(
            !keys.isEmpty && keys.allSatisfy { $0.contains(#"state="active""#) || $0.contains(#"state="published""#) }
        )
        let anchors = text.2.split(separator: "\n").filter {
            $0.hasPrefix("attest_trust_anchor_expiry_timestamp_seconds{")
        }
        // Apple's root, by the fingerprint that its page names, until 2045.
        #expect(anchors.count == 1 && anchors[0].contains("fingerprint=\"1cb9823ba28ba6ad\""), "\(anchors)")
        #expect(anchors.allSatisfy { $0.hasSuffix(" 2373148800") }, "\(anchors)")
        #expect(anchors.allSatisfy { $0.contains(#"list="attestation",subject="/CN=Apple App Attestation Root CA/"#) })
        #expect(text.2.contains("attest_config_last_reload_successful 1\n"))
    }

    @Test func `a refused reload is 0 until one succeeds`() throws {
        let monitor = try Self.monitor()
        monitor.note(nil)
        #expect(!monitor.snapshot().isReloaded)
        monitor.note(try KeyDirectory.complete().load())
        #expect(monitor.snapshot().isReloaded)
    }

    @Test(arguments: ["/status", "/version", "/healthz", "/readyz"])
    func `the other pages are JSON`(path: String) throws {
        let monitor = try Self.monitor()
        monitor.note(fault: "the \"broker\"\nis away")
        let answer = Endpoints(monitor).answer(HTTPRequest(path: path))
        #expect(answer.contentType == "application/json")
        let root = try JSONDocument(parsing: answer.body).root
        #expect(root.kind == .object)
        if path == "/status" {
            #expect(root["lastFault"]?["message"]?.string == "the \"broker\"\nis away")
            #expect(root["requestsPerSecond10s"] != nil && root["partitions"]?.kind == .array)
        }
    }

    @Test func `the status names apps for people, and no series has such a name`() throws {
        let monitor = try Self.monitor()
        func page(_ path: String) -> [UInt8] { Endpoints(monitor).answer(HTTPRequest(path: path)).body }
        #expect(try JSONDocument(parsing: page("/status")).root["apps"]?.elements.isEmpty == true)
        monitor.note(try KeyDirectory.complete(app: #""name":"Shop \"one\"","tokenAlgorithm":"ES256""#).load())
        let app = try #require(try JSONDocument(parsing: page("/status")).root["apps"]?.elements.first)
        #expect(app["app"]?.string == "a" && app["name"]?.string == "Shop \"one\"")
        #expect(!String(decoding: page("/metrics"), as: UTF8.self).contains("Shop"))
    }

    @Test func `the last fault is an outage or another fault, and nothing of an ordinary start`() throws {
        let monitor = try Self.monitor()
        let log = EventLog(LogSettings(), .plain, write: { _ in })
        monitor.watch(log)
        for event in [
            LogEvent(.warning, .partitionNoted, "the ledger remembers nothing"), LogEvent(.info, .brokerBack, "back"),
            LogEvent(.error, .clientLine, "librdkafka: Connection refused"), LogEvent(.warning, .keyYoung, "young"),
            LogEvent(.warning, .configurationDoubtful, "doubtful"), LogEvent(.info, .partitionStable, "goes on"),
        ] { log.log(event) }
        #expect(monitor.lastFault == nil)
        // Repeated, and so not written: it is the last one all the same.
        for name in [
            LogEvent.Name.brokerLost, .partitionUnstable, .partitionHeld, .keyMissing, .brokerFault, .partitionHeld,
        ] {
            log.log(LogEvent(.warning, name, name.rawValue))
            #expect(monitor.lastFault?.sentence == name.rawValue)
        }
    }

    @Test func `the status has the group, and the held partitions with their sentence`() throws {
        let monitor = try Self.monitor()
        var snapshot = SnapshotSamples.full(apps: 1, partitions: 2, reasons: [])
        snapshot.loops[0].partitions[1].hold = "partition 1 is held: no mark"
        let root = try JSONDocument(parsing: StatusReport.write(monitor, snapshot)).root
        #expect(root["group"]?.string == "attest")
        #expect(root["held"]?.elements.map(\.integer) == [1])
        let partitions = try #require(root["partitions"]?.elements)
        #expect(partitions[1]["hold"]?.string == "partition 1 is held: no mark" && partitions[0]["hold"] == nil)
        #expect(partitions[0]["unstable"]?.integer == 1 && partitions[1]["unstable"] == nil)
    }

    @Test(arguments: [([], false), ([0], false), ([1], false), ([0, 1], true)])
    func `a worker whose every partition is held is not ready`(held: [Int], isUnready: Bool) throws {
        var loop = SnapshotSamples.full(apps: 1, partitions: 2, reasons: []).loops[0]
        for index in held { loop.partitions[index].hold = "no mark" }
        var state = LoopState()
        state.loop = loop
        let reason = WorkerMonitor.reasonOfHold([state, LoopState()])
        #expect(reason == (isUnready ? "every partition is held; the first, 0: no mark" : nil))
    }

    @Test func `rates are of the last ten seconds and the last minute`() {
        let (rates, start) = (Rates(), anyUptime)
        #expect(rates.values == (0, 0))
        for second in 0...60 {
            rates.note(second <= 50 ? second * 10 : 500 + (second - 50) * 100, at: start + .seconds(second))
        }
        #expect(rates.values == (100, 25))
    }
}
