import Dispatch
import HTTP
import Member
import SimulationKit
import TestKit
import Testing
internal import Threads

@testable import Run
@testable import Telemetry

@Suite("A running loop's health over HTTP")
struct LoopHealthTests {
    /// A clock that the test moves.
    private final class Watch: Sendable {
        private let seconds = Locked(0)
        var elapsed: LifeSign.Stopwatch { { .seconds(self.seconds.withLock { $0 }) } }
        func pass(_ seconds: Int) { self.seconds.withLock { $0 += seconds } }
    }

    private static func monitor() throws -> WorkerMonitor {
        WorkerMonitor(try KeyDirectory.complete().load(), version: "1", engine: "openssl")
    }

    private static func get(_ endpoints: Endpoints, _ path: String, _ accept: String? = nil) -> (Int, String, String) {
        let answer = endpoints.answer(HTTPRequest(path: path, accept: accept))
        return (answer.status, answer.contentType, String(decoding: answer.body, as: UTF8.self))
    }

    @Test func `a running loop is ready; one that hangs for a minute is not healthy`() throws {
        let (monitor, watch) = (try Self.monitor(), Watch())
        let endpoints = Endpoints(monitor)
        // Each poll hangs until it is released.
        let gate = DispatchSemaphore(value: 0)
        let source = PolledSource { _, _, _ in gate.wait() }
        let driver = LoopDriver(idleWaitMilliseconds: 1, life: LifeSign(elapsed: watch.elapsed))
        let rig = try LoopRig.lab(lanes: 1)
        let ended = DispatchSemaphore(value: 0)
        monitor.noteRunning([driver], addLanes: rig.describe)
        #expect(Self.get(endpoints, "/readyz").0 == 503)
        driver.start(try driver.loop(source, rig), memberSnapshot: { MemberSnapshot() }) { ended.signal() }
        // Twice: the first poll's step is published once it has returned.
        gate.signal()
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
        gate.signal()
        #expect(eventually({ Self.get(endpoints, "/healthz").0 }, until: { $0 == 200 }))
        driver.stop()
        for _ in 0..<8 { gate.signal() }
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
        monitor.noteRunning([driver]) { _ in }
        let snapshot: @Sendable () -> MemberSnapshot = {
            var snapshot = MemberSnapshot()
            snapshot.unread = Array(0..<Int32(unread.withLock { $0 }))
            return snapshot
        }
        let loop = try driver.loop(PolledSource { _, _, _ in }, LoopRig.lab(lanes: 1))
        driver.start(loop, memberSnapshot: snapshot) { ended.signal() }
        let waits =
            #"{"state":"starting","reason":"2 partitions not read yet (0, 1): nothing has come from them yet"}"# + "\n"
        #expect(eventually({ Self.get(endpoints, "/readyz").2 }, until: { $0 == waits }))
        #expect(Self.get(endpoints, "/readyz").0 == 503)
        unread.withLock { $0 = 0 }
        #expect(eventually({ Self.get(endpoints, "/readyz").0 }, until: { $0 == 200 }))
        driver.stop()
        ended.wait()
    }
}
