internal import AppCheck
internal import Crypto
internal import Settings
internal import Telemetry
internal import TestKit
internal import Testing

@testable internal import Run

@Suite("A gateway's reload")
struct GatewayWatchTests {
    /// A watch with a clock of its own, and what it said and handed on.
    private final class Bench {
        let directory: KeyDirectory
        var lines: [String] = []
        var applied = 0
        var isReloaded: [Bool] = []
        private var elapsed = Duration.zero
        private var watch: ReloadWatch<LoadedGateway>?

        init(gateway members: String = "") throws {
            directory = try KeyDirectory.complete()
            if !members.isEmpty {
                let worker = try directory.text("worker.json")
                try directory.files.write("worker.json", "{\(members),\(worker.dropFirst())")
                try directory.files.write("jwks.json", Self.set("one"))
                try directory.files.write("verifiers", "billing " + String(repeating: "0a", count: 32))
            }
            watch = ReloadWatch(
                try ReadFiles<LoadedGateway>(in: directory.path),
                isAsked: { false },
                elapsed: { [unowned self] in elapsed },
                apply: { [unowned self] _ in applied += 1 },
                say: { [unowned self] in lines.append(($0.level == .warning ? "warning: " : "") + $0.message) },
                reloaded: { [unowned self] in isReloaded.append($0) }
            )
        }

        /// A key set of one key.
        static func set(_ kid: String) throws -> [UInt8] {
            let key = try TokenKey(kid: kid, algorithm: .es256, state: .active, key: SigningKey.generate(.p256))
            return try TokenKeyRing([key]).jsonWebKeySet
        }

        func change(_ file: String, _ text: String) throws {
            try directory.write(text, to: file)
            settle()
        }

        func settle() {
            for _ in 0..<2 {
                elapsed += FileWatch.interval
                watch?.poll()
            }
        }
    }

    @Test func `a changed apps.json is taken, an unchanged one is not, and debug tokens are warned of once`() throws {
        let bench = try Bench()
        for _ in 0..<3 { bench.settle() }
        #expect(bench.lines.isEmpty && bench.applied == 0)
        let token = #"{"sha256":"\#(String(repeating: "0a", count: 32))","name":"ci","until":"9999-01-01T00:00:00Z"}"#
        for ttl in ["2h", "3h"] {
            let members = #""tokenTtl":"\#(ttl)","environments":["development"],"debugTokens":["# + token + "]"
            try bench.change("apps.json", ConfigurationDirectory.apps(members))
        }
        #expect(bench.applied == 2 && bench.isReloaded == [true, true])
        #expect(bench.lines.count == 3 && bench.lines[1].hasPrefix("warning: apps.json: projects/"))
    }

    @Test func `changed Kafka properties wait for a restart, and are named`() throws {
        let bench = try Bench()
        try bench.change("kafka.properties", bench.directory.text("kafka.properties") + "\nlinger.ms=7\n")
        #expect(bench.applied == 1)
        #expect(bench.lines.last == "warning: also changed, but needs a restart: kafka.properties")
    }

    @Test func `an invalid file is refused, and the next valid one is taken`() throws {
        let bench = try Bench()
        try bench.change("apps.json", "{")
        #expect(bench.applied == 0 && bench.isReloaded == [false])
        #expect(bench.lines.last?.hasPrefix("the configuration is not reloaded, the old one stays in use: ") == true)
        try bench.change("apps.json", ConfigurationDirectory.apps(#""tokenTtl":"2h""#))
        #expect(bench.applied == 1)
    }

    @Test func `a key set and verifiers that have changed are taken although apps.json is bad`() throws {
        let bench = try Bench(gateway: #""gateway":{"publicKeys":"jwks.json","verifiers":"verifiers"}"#)
        try bench.change("apps.json", "{")
        #expect(bench.applied == 0 && bench.lines.count == 1)
        try bench.directory.files.write("jwks.json", Bench.set("two"))
        bench.settle()
        #expect(bench.applied == 1 && bench.isReloaded == [false, false])
        let taken = "warning: the file of gateway.publicKeys is in use as it is now; nothing else is taken"
        #expect(bench.lines.count == 3 && bench.lines[2] == taken, "\(bench.lines)")
        #expect(bench.lines[1].hasSuffix("Not taken: apps.json, jwks.json."))
        // One that is bad itself is not taken, and keeps the other one from nothing.
        try bench.directory.files.write("jwks.json", "{")
        try bench.change("verifiers", "# none")
        #expect(bench.applied == 2)
        #expect(bench.lines.last?.contains("gateway.verifiers is in use") == true, "\(bench.lines)")
    }
}
