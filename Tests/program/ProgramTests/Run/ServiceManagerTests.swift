internal import BrokerKit
internal import Foundation
internal import Settings
internal import Synchronization
internal import TestKit
internal import Testing

@testable internal import Run

@Suite("Word to the service manager", .waiting)
struct ServiceManagerTests {
    /// An abstract one.
    private let name = "@attest-worker-\(UUID().uuidString)"
    private let socket: NotifySocket

    init() throws { socket = try NotifySocket(name) }

    @Test(arguments: [false, true])
    func `a message is one datagram, to a path or to an abstract name`(isAbstract: Bool) throws {
        let folder = try Folder.makeTemporary("attest-worker-notify")
        defer { Folder.remove(folder) }
        let name = isAbstract ? name : "\(folder)/socket"
        let socket = try isAbstract ? socket : NotifySocket(name)
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
        let worker = try ProgramProcess(
            ["run", "--config", folder.file("config")],
            in: folder.path,
            environment: ["NOTIFY_SOCKET": name]
        )
        #expect(worker.waitForEnd() == .exit(2), "\(worker.error)")
        #expect(socket.isSilent() && !socket.heard.contains("READY=1"))
    }
}

/// Listens as systemd does, and keeps the messages that it receives.
private final class NotifySocket {
    private let file: Int32
    private(set) var heard = ""

    /// - Parameter name: a path, or `@` and an abstract name.
    init(_ name: String) throws {
        file = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        let (address, length) = try #require(ServiceManager.address(of: name))
        // A socket address of the stated size, alive during the call.
        let isBound = unsafe withUnsafePointer(to: address) { place in
            unsafe place.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(file, $0, length) == 0 }
        }
        try #require(isBound)
    }

    deinit { close(file) }

    /// Whether a text comes.
    func hears(_ text: String) -> Bool {
        var watch = StandstillWatch<String>()
        while !heard.contains(text), !watch.isStill(heard) { take() }
        return heard.contains(text)
    }

    /// Whether nothing at all comes for a second.
    func isSilent() -> Bool {
        let before = heard
        for _ in 0..<10 { take() }
        return heard == before
    }

    /// One message, or a tenth of a second.
    private func take() {
        var entry = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
        // One entry, which the call fills in; then a buffer of the stated size.
        guard unsafe poll(&entry, 1, 100) > 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(file, &bytes, bytes.count, 0)
        heard += String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) + "\n"
    }
}
