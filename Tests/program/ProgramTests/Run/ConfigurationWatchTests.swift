internal import AppCheck
internal import Foundation
internal import Pipeline
internal import Settings
internal import Streams
internal import TestKit
internal import Testing

@testable internal import Run
@testable internal import Telemetry

/// A watch with a clock of its own, and what it said and handed on.
private final class WatchBench {
    let directory: KeyDirectory
    var lines: [String] = []
    var events: [LogEvent] = []
    /// Whether each configuration that was looked at is in use.
    var reloaded: [Bool] = []
    var errors: [LogEvent.Name] { events.filter { $0.level == .error }.map(\.name) }
    var applied: [(Configuration, KeyRings)] = []
    var isAsked = false
    /// Why the loop refuses a change; nil = it accepts the change.
    var refusal: String?
    /// Whether the loop answers immediately.
    var answers = true
    private(set) var taken: (@Sendable (String?) -> Void)?
    private var elapsed = Duration.zero
    private var wall: Int64 = timeOfDay()
    private var watch: ConfigurationWatch?

    /// - Parameter meanwhile: what happens between the load and the first look.
    init(_ directory: KeyDirectory, meanwhile: () throws -> Void = {}) throws {
        self.directory = directory
        let running = try directory.load()
        try meanwhile()
        watch = ConfigurationWatch(
            directory: directory.path,
            running: running,
            isAsked: { [unowned self] in
                defer { isAsked = false }
                return isAsked
            },
            elapsed: { [unowned self] in elapsed },
            wallClock: { [unowned self] in wall },
            apply: { [unowned self] in
                applied.append(($0, $1))
                taken = $2
                if answers { $2(refusal) }
            },
            say: { [unowned self] event in
                events.append(event)
                let line = (event.level == .warning ? "warning: " : "") + event.message
                lines.append(line.replacingOccurrences(of: directory.path, with: "DIR"))
            },
            reloaded: { [unowned self] in reloaded.append($0 != nil) }
        )
    }

    /// Lets one interval pass and looks.
    func poll() {
        elapsed += FileWatch.interval
        wall += 2000
        watch?.poll()
    }

    /// Looks until a stable change has been reloaded.
    func settle() {
        poll()
        poll()
    }

    /// Writes a file, and looks until it has been reloaded.
    func change(_ file: String, _ text: String) throws {
        try directory.files.write(file, text)
        settle()
    }

    /// Puts another text in the place of a part of worker.json.
    func edit(_ old: String, _ new: String) throws {
        try directory.edit("worker.json", old, new)
        settle()
    }

    /// SIGHUP comes, which is answered without another look.
    func ask() {
        isAsked = true
        watch?.poll()
    }

    /// The life of the app's tokens in what was handed on.
    var lives: [Int64] { applied.map { $0.0.registry.apps[0].tokens.ttlMilliseconds } }

    /// Lets time pass without a look.
    func pass(hours: Double) { wall += Int64(hours * 3_600_000) }
}

@Suite("Reload")
struct ConfigurationWatchTests {
    private let bench: WatchBench

    init() throws { bench = try WatchBench(KeyDirectory.complete()) }

    private static let gone = "the configuration is not reloaded, the old one stays in use: "
    private static let sealing = #""sealingKeys": ["#
    private static let another = #"{"id": "n", "file": "n.key"}, "#

    /// The app of the complete directory, with another life of its tokens.
    private static func apps(ttl: String) -> String {
        ConfigurationDirectory.apps(#""tokenAlgorithm":"ES256","tokenTtl":"\#(ttl)""#)
    }

    @Test func `a changed apps.json is reloaded once it is the same in two looks, an unchanged one is not`() throws {
        for _ in 0..<5 { bench.poll() }
        #expect(bench.lines.isEmpty && bench.applied.isEmpty)
        try bench.directory.files.write("apps.json", Self.apps(ttl: "2h"))
        bench.poll()
        #expect(bench.applied.isEmpty, "it may still be being written")
        try bench.directory.files.write("apps.json", Self.apps(ttl: "11h"))
        bench.poll()
        #expect(bench.applied.isEmpty, "it was")
        bench.poll()
        #expect(bench.lives == [39_600_000])
        #expect(bench.lines == ["the configuration is reloaded: 1 app, 1 signing key, 1 sealing key, 1 challenge key"])
        for _ in 0..<3 { bench.poll() }
        #expect(bench.applied.count == 1)
    }

    @Test func `debug tokens that a reload brings are warned of once`() throws {
        let warning =
            "warning: apps.json: projects/1/apps/a has debug tokens (ci): their holders get tokens without a device"
        for ttl in ["2h", "3h"] {
            let members =
                #""tokenAlgorithm":"ES256","tokenTtl":"\#(ttl)","environments":["development"],"debugTokens":["#
                + Self.debugToken + "]"
            try bench.change("apps.json", ConfigurationDirectory.apps(members))
        }
        #expect(bench.applied.count == 2 && bench.lines.filter { $0.hasPrefix("warning: ") } == [warning])
    }

    private static let debugToken =
        #"{"sha256":"\#(String(repeating: "0a", count: 32))","name":"ci","until":"9999-01-01T00:00:00Z"}"#

    @Test
    func `a configuration that the loop refuses is not reported as reloaded, and the running one stays the reference`()
        throws
    {
        let worker = try bench.directory.text("worker.json")
        try bench.directory.write("n.key", KeyText.secret(9))
        bench.refusal = "a key is missing"
        try bench.edit(Self.sealing, Self.sealing + Self.another)
        #expect(bench.applied.count == 1)
        #expect(bench.lines == [Self.gone + "a key is missing Not taken: worker.json."])
        // The new key has sealed nothing: it may be removed again.
        bench.refusal = nil
        try bench.change("worker.json", worker)
        #expect(bench.applied.count == 2)
        #expect(bench.lines.count == 2 && bench.lines[1].contains("is reloaded: 1 app, 1 signing key, 1 sealing key"))
    }

    @Test func `a reload is logged when the loop has taken it, and the next change waits for it`() throws {
        bench.answers = false
        try bench.change("apps.json", Self.apps(ttl: "2h"))
        bench.isAsked = true
        try bench.change("apps.json", Self.apps(ttl: "11h"))
        #expect(bench.applied.count == 1 && bench.lines.isEmpty)
        bench.taken?(nil)
        bench.poll()
        #expect(bench.lines.count == 1 && bench.lines[0].hasPrefix("the configuration is reloaded: "))
        #expect(bench.lives == [7_200_000, 39_600_000])
    }

    @Test func `a change between the load and the watch, during the wait for the broker, is reloaded`() throws {
        let directory = try KeyDirectory.complete()
        let bench = try WatchBench(directory) { try directory.files.write("apps.json", Self.apps(ttl: "2h")) }
        bench.settle()
        #expect(bench.lives == [7_200_000])
    }

    @Test func `a change during the load is reloaded too`() throws {
        let directory = try KeyDirectory.complete()
        let (path, root) = (directory.path, directory.path + "/root.pem")
        let worker = try directory.text("worker.json")
        try FileManager.default.removeItem(atPath: root)
        // The load waits for what comes out of this pipe: worker.json is read by then.
        let made = unsafe mkfifo(root, 0o600)
        try #require(made == 0)
        Thread.detachNewThread {
            let pipe = FileHandle(forWritingAtPath: root)
            try? Data((worker + "\n").utf8).write(to: URL(fileURLWithPath: path + "/worker.json"))
            try? FileManager.default.removeItem(atPath: root)
            try? Data("attestation root".utf8).write(to: URL(fileURLWithPath: root))
            try? pipe?.write(contentsOf: Data("attestation root".utf8))
            try? pipe?.close()
        }
        let bench = try WatchBench(directory)
        bench.settle()
        #expect(bench.applied.count == 1)
    }

    @Test func `SIGHUP is answered at once, whether a file has changed or not`() throws {
        bench.ask()
        #expect(bench.applied.count == 1 && bench.lines.count == 1)
        bench.poll()
        #expect(bench.applied.count == 1)
    }

    @Test(
        arguments: [
            ("apps.json", "{", "apps.json: line 1, column 2: invalid JSON; fix it there."),
            (
                "apps.json", #"{"projects":[{"number":"1","apps":[{"appId":"a","x":1}]}]}"#,
                "apps.json: projects[0].apps[0].x"
            ),
            ("worker.json", ConfigurationDirectory.worker(#""lane":1"#), "worker.json: lane: unknown key"),
            (
                "worker.json", ConfigurationDirectory.worker(#""sealingKeys":[{"id":"n","file":"n.key"}]"#),
                "worker.json: sealing key n: DIR/n.key is missing"
            ),
            ("worker.json", nil, "cannot read DIR/worker.json"),
        ]
    )
    func `if a changed file is invalid, the worker keeps the old configuration and logs why; a fix is reloaded`(
        file: String,
        content: String?,
        complaint: String
    ) throws {
        let (directory, good) = (bench.directory, try bench.directory.text(file))
        if let content {
            try directory.files.write(file, content)
        } else {
            try FileManager.default.removeItem(atPath: "\(directory.path)/\(file)")
        }
        for _ in 0..<5 { bench.poll() }
        #expect(bench.applied.isEmpty)
        #expect(bench.lines.count == 1 && bench.lines[0].hasPrefix(Self.gone + complaint), "\(bench.lines)")
        #expect(!bench.lines[0].contains("\n"))
        try bench.change(file, good)
        #expect(bench.applied.count == 1 && bench.lines.count == 2)
    }

    @Test func `each change and each SIGHUP has a line, which names all that was not taken`() throws {
        var filter = RepeatFilter()
        func written() -> Int { bench.events.reduce(0) { $0 + filter.take($1, at: 0).count } }
        try bench.change("apps.json", "{")
        try bench.change("kafka.properties", "linger.ms=7\n")
        bench.ask()
        let fault = Self.gone + "apps.json: line 1, column 2: invalid JSON; fix it there."
        let both = fault + " Not taken: apps.json, kafka.properties."
        #expect(bench.lines == [fault + " Not taken: apps.json.", both, both])
        #expect(written() == 3, "none is held back as a repetition")
        try bench.change("apps.json", Self.apps(ttl: "2h"))
        try bench.change("apps.json", "{")
        #expect(bench.lines.last == fault + " Not taken: apps.json.")
    }

    @Test(arguments: ["apps.json", "root.pem", "worker.json"])
    func `a revoked key signs no more, though another file or another setting is bad; the rest waits`(
        bad: String
    ) throws {
        let directory = bench.directory
        let full = try directory.text("worker.json")
        let kid = try #require(directory.load().configuration.signingKeys.first?.kid)
        var revoked = full.replacing(#""active""#, with: #""revoked""#)
        switch bad {
        case "worker.json": revoked = #"{"lane": 1, "# + revoked.dropFirst()
        case "apps.json": try directory.files.write("apps.json", "{")
        default: try FileManager.default.removeItem(atPath: "\(directory.path)/\(bad)")
        }
        try bench.change("worker.json", revoked)
        #expect(bench.applied.count == 1)
        let keys = try #require(bench.applied.first?.1)
        #expect(keys.tokens.keys.isEmpty && keys.tokens.isRevoked(kid))
        #expect(keys.sealing.keys.count == 1 && keys.challenges.keys.count == 1)
        #expect(bench.applied.first?.0.registry.apps.count == 1)
        #expect(
            bench.lines.count == 3 && bench.lines[0].hasPrefix(Self.gone) && bench.lines[1].contains(kid),
            "\(bench.lines)"
        )
        #expect(bench.errors == [.configurationRefused, .keyMissing])
        #expect(bench.reloaded == [false, true, false], "the whole is still refused")
        // Nothing more to take.
        bench.ask()
        #expect(bench.applied.count == 1)
        try directory.files.write("apps.json", Self.apps(ttl: "2h"))
        try directory.files.write("root.pem", "attestation root")
        try bench.change("worker.json", full.replacing(#""active""#, with: #""revoked""#))
        #expect(bench.applied.count == 2 && bench.reloaded.last == true)
        #expect(bench.applied.last?.1.tokens.isRevoked(kid) == true)
    }

    @Test func `a revocation that the loop refuses too is tried once`() throws {
        bench.refusal = "a key is missing"
        try bench.edit(#""active""#, #""revoked""#)
        #expect(bench.applied.count == 2 && bench.errors == [.configurationRefused, .configurationRefused])
    }

    @Test func `a missing key file is watched: creating it is enough for the reload`() throws {
        try bench.edit(Self.sealing, Self.sealing + Self.another)
        #expect(bench.lines.count == 1 && bench.lines[0].contains("sealing key n: DIR/n.key is missing"))
        try bench.directory.write("n.key", KeyText.secret(9))
        bench.settle()
        #expect(bench.applied.first?.1.sealing.active?.id == SealingKeyID(of: "n"))
        #expect(bench.applied.first?.1.sealing.keys.count == 2)
    }

    @Test func `a key file that becomes readable by others is logged, and the keys stay`() throws {
        let directory = bench.directory
        let file = try #require(try directory.load().configuration.sealingKeys.first?.file)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        bench.settle()
        #expect(bench.applied.isEmpty && bench.lines.count == 1)
        #expect(bench.lines[0].contains("is open to others (mode 644)"))
    }

    @Test func `settings that need a restart are named, and all others are reloaded`() throws {
        try bench.directory.files.write("kafka.properties", "linger.ms=7\n")
        try bench.directory.files.write("apps.json", Self.apps(ttl: "2h"))
        let worker = try bench.directory.text("worker.json")
        let more = #"{"batch": {"records": 7}, "topics": {"requests": "other"}, "#
        let external = worker.replacing(#""challenges": {"#, with: #""challenges": {"mode": "external", "#)
        try bench.change("worker.json", more + external.dropFirst())
        #expect(
            bench.lines.last
                == "warning: also changed, but needs a restart: topics.requests, batch.records, challenges.mode, "
                + "kafka.properties"
        )
        let next = try #require(bench.applied.first?.0)
        #expect(next.batch.records == 10_000 && next.topics == .standard && next.kafkaProperties.isEmpty)
        #expect(next.challenges.mode == .sealed)
        #expect(next.registry.apps[0].tokens.ttlMilliseconds == 7_200_000)
        #expect(next.registry.apps[0].unknownKeys == .restore, "the default that goes with the mode that runs")
    }

    /// A leaked key must be possible to stop, so it is applied.
    @Test(arguments: ["published", "revoked"])
    func `a reload that takes the last active signing key away is an error with an event of its own; later ones warn`(
        state: String
    ) throws {
        let full = try bench.directory.text("worker.json")
        try bench.edit(#""active""#, #""\#(state)""#)
        #expect(bench.applied.count == 1 && bench.errors == [.keyMissing], "\(bench.lines)")
        let line = "no ES256 signing key is active: the exchanges of projects/1/apps/a are deferred"
        #expect(bench.lines.filter { $0.contains(line) } == [line + "; this reload took the last one away"])
        try bench.change("apps.json", Self.apps(ttl: "2h"))
        #expect(bench.errors == [.keyMissing] && bench.lines.last == "warning: " + line, "\(bench.lines)")
        try bench.change("worker.json", full)
        #expect(bench.applied.count == 3 && bench.errors.count == 1)
        #expect(bench.lines.last?.contains(line) == false)
    }

    @Test func `each kind of key that is gone is reported; a worker that never had any only verifies`() throws {
        let (full, bare) = (
            try KeyDirectory.complete().load(), try KeyDirectory(app: #""tokenAlgorithm":"ES256""#).load()
        )
        #expect(
            bare.takenKeys(after: full) == [
                "no ES256 signing key is active: the exchanges of projects/1/apps/a are deferred",
                "worker.json lists no sealing key: exchanges are deferred",
                "worker.json lists no challenge key: challenges and exchanges are deferred",
            ]
        )
        #expect(bare.takenKeys(after: bare).isEmpty && full.takenKeys(after: bare).isEmpty)
        #expect(bare.warnings(after: bare, now: timeOfDay()).isEmpty)
    }

    @Test func `what the check of the new files warns of, the reload warns of`() throws {
        try bench.change("apps.json", ConfigurationDirectory.apps(#""appleAppIds":[],"tokenAlgorithm":"RS256""#))
        let warnings = bench.lines.filter { $0.hasPrefix("warning: ") }.map { String($0.dropFirst(9)) }
        #expect(
            warnings == (try bench.directory.load().warnings(now: timeOfDay())) && warnings.count == 2,
            "\(bench.lines)"
        )
        #expect(bench.errors.isEmpty, "a key that never was is not taken away")
    }

    @Test func `a rotation with new-keys is reloaded step by step, and all keys stay known`() throws {
        let directory = bench.directory
        let old = try directory.load()
        #expect(directory.run("new-keys", "--add").code == 0)
        bench.settle()
        let added = try #require(bench.applied.last).1
        let next = try directory.load().configuration
        #expect(added.tokens.active(.es256)?.kid == old.configuration.signingKeys[0].kid)
        #expect(added.sealing.active?.id == old.keys.rings.sealing.active?.id)
        #expect(added.tokens.keys.count == 2 && added.sealing.keys.count == 2 && added.challenges.keys.count == 2)
        bench.pass(hours: 7.5)
        try directory.age("keys/signing-\(next.signingKeys[1].kid).pem", hours: 7.5)
        let ids = [next.signingKeys[1].kid, next.sealingKeys[1].id, next.challengeKeys[1].id]
        for id in ids { #expect(directory.run("new-keys", "--activate", id).code == 0) }
        bench.settle()
        let rotated = try #require(bench.applied.last).1
        #expect(rotated.tokens.active(.es256)?.kid == ids[0])
        #expect(rotated.sealing.active?.id == SealingKeyID(of: ids[1]))
        #expect(rotated.challenges.active?.id == SealingKeyID(of: ids[2]))
        #expect(rotated.tokens.keys.count == 2 && rotated.sealing.keys.count == 2 && rotated.challenges.keys.count == 2)
        #expect(bench.applied.count == 2 && !bench.lines.contains { $0.hasPrefix("warning") }, "\(bench.lines)")
    }
}
