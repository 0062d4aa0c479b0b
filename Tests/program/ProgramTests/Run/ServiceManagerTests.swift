internal import BrokerKit
internal import Foundation
internal import Settings
internal import Synchronization
internal import TestKit
internal import Testing

@testable internal import Run

@Suite("Word to the service manager", .waiting)
struct ServiceManagerTests {
    private static var name: String { "attest-worker-\(UUID().uuidString)" }

    @Test(arguments: [false, true])
    func `a message is one datagram, to a path or to an abstract name`(isAbstract: Bool) throws {
        let folder = try Folder.makeTemporary("attest-worker-notify")
        defer { Folder.remove(folder) }
        let name = isAbstract ? "@\(Self.name)" : "\(folder)/socket"
        let socket = try NotifySocket(name)
        let manager = ServiceManager(["NOTIFY_SOCKET": name], process: 1)
        #expect(manager.say(.ready, status: "two\nlines"))
        #expect(socket.hears("READY=1\nSTATUS=two lines\n"))
        #expect(manager.say(.stopping))
        #expect(socket.hears("STOPPING=1\n"))
    }

    @Test(arguments: [nil, "", "relative", "/none/there", "@", "/" + String(repeating: "x", count: 107)])
    func `without a manager that listens nothing is said`(name: String?) {
        #expect(!ServiceManager(name.map { ["NOTIFY_SOCKET": $0] } ?? [:], process: 1).say(.ready))
    }

    @Test func `an address has the name's length; an abstract one begins with a zero`() throws {
        let offset = try #require(MemoryLayout<sockaddr_un>.offset(of: \.sun_path))
        let (path, pathLength) = try #require(ServiceManager.address(of: "/run/x"))
        #expect(pathLength == socklen_t(offset + 6))
        #expect(path.sun_path.0 == 0x2F && path.sun_path.5 == 0x78)
        let (abstract, length) = try #require(ServiceManager.address(of: "@abc"))
        #expect(length == socklen_t(offset + 4))
        #expect(abstract.sun_path.0 == 0 && abstract.sun_path.1 == 0x61)
        #expect(ServiceManager.address(of: "/" + String(repeating: "x", count: 106)) != nil)
    }

    @Test(
        arguments: [
            (["WATCHDOG_USEC": "30000000"], .seconds(30)),
            (["WATCHDOG_USEC": "5", "WATCHDOG_PID": "7"], .microseconds(5)),
            (["WATCHDOG_USEC": "5", "WATCHDOG_PID": "8"], nil), (["WATCHDOG_USEC": "0"], nil),
            (["WATCHDOG_USEC": "-1"], nil), (["WATCHDOG_USEC": "soon"], nil), ([:], nil),
        ] as [([String: String], Duration?)]
    )
    func `the watchdog's time is the one that this process is given`(variables: [String: String], period: Duration?) {
        let manager = ServiceManager(variables.merging(["NOTIFY_SOCKET": "/run/x"]) { $1 }, process: 7)
        #expect(manager.watchdog == period)
        #expect(ServiceManager(variables, process: 7).watchdog == nil, "none listens")
    }

    @Test func `the watchdog is fed while threads show life, and no longer`() throws {
        let name = "@\(Self.name)"
        let socket = try NotifySocket(name)
        let manager = ServiceManager(["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "60000"], process: 1)
        let silence = Atomic<Int>(0)
        let feed = WatchdogFeed(manager, silence: { .seconds(silence.load(ordering: .relaxed)) }, most: .seconds(60))
        #expect(socket.hears("WATCHDOG=1\nWATCHDOG=1\n"))
        silence.store(60, ordering: .relaxed)
        // What was on its way comes still.
        var seconds = 0
        while !socket.isSilent(), seconds < 60 { seconds += 1 }
        #expect(seconds < 60)
        let before = socket.heard
        silence.store(59, ordering: .relaxed)
        #expect(socket.hears(before + "WATCHDOG=1\n"))
        withExtendedLifetime(feed) {}
        #expect(WatchdogFeed(ServiceManager([:], process: 1), silence: { .zero }, most: .seconds(60)) == nil)
    }

    @Test(.enabled(if: WorkerBinary.url != nil))
    func `run is ready before its broker answers, feeds the watchdog, and says that it stops`() throws {
        let folder = try SimulationFolder.configured()
        // Nothing listens there.
        try folder.write("bootstrap.servers=127.0.0.1:1\ngroup.id=silent\n", to: "config/kafka.properties")
        let name = "@\(Self.name)"
        let socket = try NotifySocket(name)
        let worker = try ProgramProcess(
            ["run", "--config", folder.file("config"), "--instance", "one"],
            in: folder.path,
            environment: ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "300000"]
        )
        #expect(socket.hears("READY=1\nSTATUS=instance one\n"), "\(worker.error)")
        #expect(socket.hears("WATCHDOG=1\nWATCHDOG=1\n"))
        #expect(!socket.heard.contains("STOPPING=1"))
        worker.signal(SIGTERM)
        #expect(socket.hears("STOPPING=1"))
        #expect(worker.waitForEnd() == .exit(0), "\(worker.error)")
    }

    @Test(.enabled(if: WorkerBinary.url != nil))
    func `run is not ready where the configuration is wrong, and exits 2`() throws {
        let folder = try SimulationFolder.configured()
        try folder.write("{\"unknown\": 1}", to: "config/worker.json")
        let name = "@\(Self.name)"
        let socket = try NotifySocket(name)
        let worker = try ProgramProcess(
            ["run", "--config", folder.file("config")],
            in: folder.path,
            environment: ["NOTIFY_SOCKET": name]
        )
        #expect(worker.waitForEnd() == .exit(2), "\(worker.error)")
        #expect(socket.isSilent() && !socket.heard.contains("READY=1"))
    }
}
