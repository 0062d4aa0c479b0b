internal import AppCheck
internal import Gateway
internal import Settings
internal import Telemetry
internal import TestKit
internal import Testing

@testable internal import Worker

@Suite("A gateway's reload")
struct GatewayWatchTests {
    /// A watch with a clock of its own, and what it said and handed on.
    private final class Bench {
        let directory: KeyDirectory
        var lines: [String] = []
        var applied = 0
        var isReloaded: [Bool] = []
        private var elapsed = Duration.zero
        private var watch: GatewayWatch?

        init() throws {
            directory = try KeyDirectory.complete()
            let running = try LoadedGateway.load(directory: directory.path)
            watch = GatewayWatch(
                directory: directory.path,
                running: running,
                stamps: FileStamp.all(running.paths(in: directory.path)),
                isAsked: { false },
                elapsed: { [unowned self] in elapsed },
                apply: { [unowned self] _ in applied += 1 },
                say: { [unowned self] in lines.append(($0.level == .warning ? "warning: " : "") + $0.message) },
                reloaded: { [unowned self] in isReloaded.append($0) }
            )
        }

        func settle() {
            for _ in 0..<2 {
                elapsed += FileWatch.interval
                watch?.poll()
            }
        }
    }

    @Test func `unchanged files cause none`() throws {
        let bench = try Bench()
        for _ in 0..<3 { bench.settle() }
        #expect(bench.lines.isEmpty && bench.applied == 0)
    }

    @Test func `a changed apps.json is taken, and its debug tokens are warned of once`() throws {
        let bench = try Bench()
        let token = #"{"sha256":"\#(String(repeating: "0a", count: 32))","name":"ci","until":"9999-01-01T00:00:00Z"}"#
        for ttl in ["2h", "3h"] {
            let members = #""tokenTtl":"\#(ttl)","environments":["development"],"debugTokens":["# + token + "]"
            try bench.directory.files.write("apps.json", ConfigurationDirectory.apps(members))
            bench.settle()
        }
        #expect(bench.applied == 2 && bench.isReloaded == [true, true])
        #expect(bench.lines.count == 3 && bench.lines[1].hasPrefix("warning: apps.json: projects/"))
    }

    @Test func `changed Kafka properties wait for a restart, and are named`() throws {
        let bench = try Bench()
        let text = try bench.directory.text("kafka.properties")
        try bench.directory.files.write("kafka.properties", text + "\nlinger.ms=7\n")
        bench.settle()
        #expect(bench.applied == 1)
        #expect(bench.lines.last == "warning: also changed, but needs a restart: kafka.properties")
    }

    @Test func `an invalid file is refused, and the next valid one is taken`() throws {
        let bench = try Bench()
        try bench.directory.files.write("apps.json", "{")
        bench.settle()
        #expect(bench.applied == 0 && bench.isReloaded == [false])
        #expect(bench.lines.last?.hasPrefix("the configuration is not reloaded, the old one stays in use: ") == true)
        try bench.directory.files.write("apps.json", ConfigurationDirectory.apps(#""tokenTtl":"2h""#))
        bench.settle()
        #expect(bench.applied == 1)
    }
}
