import AppAttest
import AppCheck
import Broker
import Dispatch
import Foundation
import HTTP
import JSON
import Log
import Member
import Pipeline
import Settings
import SimulationKit
import TestKit
import Testing

@testable import Worker

@Suite("Metrics and health over HTTP")
struct EndpointsTests {
    /// Has no record and never ends; a poll may hang until it is released.
    private final class Source: RequestSource, @unchecked Sendable {
        let member: (any GroupMember)? = nil
        let gate = DispatchSemaphore(value: 0)
        private let hangs: Bool

        init(hangs: Bool) { self.hangs = hangs }

        func poll(_ limits: BatchLimits, waitMilliseconds: Int) -> PollRound {
            if hangs { gate.wait() }
            return PollRound()
        }
    }

    /// A clock that the test moves.
    private final class Watch: Sendable {
        private let seconds = Locked(0)
        var elapsed: LifeSign.Stopwatch { { .seconds(self.seconds.withLock { $0 }) } }
        func pass(_ seconds: Int) { self.seconds.withLock { $0 += seconds } }
    }

    private static func monitor() throws -> WorkerMonitor {
        let directory = try KeyDirectory.complete()
        let root = (0..<4).reduce(URL(filePath: #filePath)) { path, _ in path.deletingLastPathComponent() }
        let apple = try Data(contentsOf: root.appending(path: "Config/anchors/Apple_App_Attestation_Root_CA.pem"))
        try directory.write("root.pem", [UInt8](apple))
        return WorkerMonitor(try directory.load(), engine: try EngineChoice(EngineSettings()), group: "attest")
    }

    private static func get(_ endpoints: Endpoints, _ path: String, _ accept: String? = nil) -> (Int, String, String) {
        let answer = endpoints.answer(HTTPRequest(path: path, accept: accept))
        return (answer.status, answer.contentType, String(decoding: answer.body, as: UTF8.self))
    }

    private static func factory() throws -> LaneFactory {
        LaneFactory(
            lanes: 1,
            engine: try EngineChoice(EngineSettings()),
            anchors: try TrustAnchors(attestationPEM: [], receiptPEM: []),
            limits: ObjectLimits(),
            alarm: { Issue.record(Comment(rawValue: $0)) }
        )
    }

    private static func loop(_ driver: LoopDriver, _ source: Source, _ factory: LaneFactory) throws -> BatchLoop {
        BatchLoop(
            log: LogRoles(source: source, unit: MemoryUnit()),
            settings: PipelineSettings(registry: try RequestRecords.registry()),
            lanes: factory.lanes,
            post: driver.post,
            wallClock: { nil }
        )
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

    @Test func `a running loop is ready; one that hangs for a minute is not healthy`() throws {
        let (monitor, watch) = (try Self.monitor(), Watch())
        let endpoints = Endpoints(monitor)
        let source = Source(hangs: true)
        let driver = LoopDriver(idleWaitMilliseconds: 1, life: LifeSign(elapsed: watch.elapsed))
        let factory = try Self.factory()
        let ended = DispatchSemaphore(value: 0)
        monitor.noteRunning([driver], factory)
        #expect(Self.get(endpoints, "/readyz").0 == 503)
        driver.start(try Self.loop(driver, source, factory), logSight: { LogSight() }) { ended.signal() }
        // Twice: the first poll's step is published once it has returned.
        source.gate.signal()
        #expect(eventually({ Self.get(endpoints, "/readyz").2 }, until: { $0 == "{\"state\":\"running\"}\n" }))
        #expect(Self.get(endpoints, "/readyz").0 == 200)
        watch.pass(59)
        #expect(Self.get(endpoints, "/healthz").0 == 200)
        watch.pass(1)
        #expect(
            Self.get(endpoints, "/healthz") == (
                503, "application/json", #"{"status":"hung","silentSeconds":60}"# + "\n"
            )
        )
        // It goes on, and that is life.
        source.gate.signal()
        #expect(eventually({ Self.get(endpoints, "/healthz").0 }, until: { $0 == 200 }))
        driver.stop()
        for _ in 0..<8 { source.gate.signal() }
        ended.wait()
        watch.pass(600)
        // A loop that has ended needs no life.
        #expect(Self.get(endpoints, "/healthz").0 == 200)
    }

    @Test func `a worker that reads a partition of its not yet is not ready`() throws {
        let monitor = try Self.monitor()
        let endpoints = Endpoints(monitor)
        let driver = LoopDriver(idleWaitMilliseconds: 1)
        let ended = DispatchSemaphore(value: 0)
        let unread = Locked(2)
        monitor.noteRunning([driver], try Self.factory())
        let sight: @Sendable () -> LogSight = {
            var sight = LogSight()
            sight.unread = Array(0..<Int32(unread.withLock { $0 }))
            return sight
        }
        let loop = try Self.loop(driver, Source(hangs: false), try Self.factory())
        driver.start(loop, logSight: sight) { ended.signal() }
        let waits =
            #"{"state":"starting","reason":"2 partitions not read yet (0, 1): nothing has come from them yet"}"# + "\n"
        #expect(eventually({ Self.get(endpoints, "/readyz").2 }, until: { $0 == waits }))
        #expect(Self.get(endpoints, "/readyz").0 == 503)
        unread.withLock { $0 = 0 }
        #expect(eventually({ Self.get(endpoints, "/readyz").0 }, until: { $0 == 200 }))
        driver.stop()
        ended.wait()
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

    @Test func `the last fault is an outage or another fault, and no news of an ordinary start`() throws {
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
        snapshot.sights[0].partitions[1].hold = "partition 1 is held: no mark"
        let root = try JSONDocument(parsing: StatusReport.write(monitor, snapshot)).root
        #expect(root["group"]?.string == "attest")
        #expect(root["held"]?.elements.map(\.integer) == [1])
        let partitions = try #require(root["partitions"]?.elements)
        #expect(partitions[1]["hold"]?.string == "partition 1 is held: no mark" && partitions[0]["hold"] == nil)
        #expect(partitions[0]["unstable"]?.integer == 1 && partitions[1]["unstable"] == nil)
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
