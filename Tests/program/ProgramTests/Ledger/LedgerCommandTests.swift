import TestKit
import Testing

@Suite("import-keys, export-keys, move and reset, before they contact a broker")
struct LedgerCommandTests {
    private static let broker = "bootstrap.servers=127.0.0.1:1\ngroup.id=g\n"

    private func run(
        _ arguments: [String],
        worker: String = #""lanes":1"#,
        properties: String = Self.broker,
        keys: String = ""
    ) throws -> (code: Int32, transcript: Transcript) {
        let worker = ConfigurationDirectory.worker(worker)
        let directory = try ConfigurationDirectory(worker: worker, properties: properties)
        try directory.write("KEYS", keys)
        return Transcript.run(arguments.map { $0.replacing("DIR", with: directory.path) })
    }

    private static let commands = [
        ["import-keys", "--config", "DIR", "--input", "DIR/KEYS"], ["reset", "--config", "DIR"],
        ["export-keys", "--config", "DIR"], ["move", "--config", "DIR", "--to", "DIR"],
    ]

    @Test(arguments: commands + [["requeue", "--config", "DIR"]])
    func `without a permanent broker, or with a wrong property, the exit code is 2`(_ arguments: [String]) throws {
        let embedded = try run(arguments, worker: #""embeddedBroker":true"#)
        #expect(embedded.code == 2 && embedded.transcript.error.contains("embeddedBroker"))
        guard arguments[0] != "requeue" else { return }
        let property = try run(arguments, properties: Self.broker + "no.such.property=1\n")
        #expect(property.code == 2 && property.transcript.error.contains("no.such.property"))
    }

    @Test(
        arguments: commands + [
            ["create-topics", "--config", "DIR", "--partitions", "1"], ["rollout", "--config", "DIR"],
            ["publish", "--config", "DIR", "--input", "DIR/KEYS"],
        ]
    )
    func `a configuration without a broker, or without a valid client, is exit code 2 and one line`(
        arguments: [String]
    ) throws {
        for (properties, name) in [
            ("group.id=g\n", "bootstrap.servers is missing"),
            (Self.broker + "security.protocol=ssl\nssl.ca.location=/nowhere\n", "ssl.ca.location"),
        ] {
            let (code, transcript) = try run(arguments, properties: properties)
            #expect(code == 2 && transcript.error.contains(name), "\(transcript.error)")
            #expect(transcript.error.filter(\.isNewline).count == 1)
        }
    }

    @Test(arguments: commands.filter { $0[0] != "export-keys" })
    func `without the group's name a command changes nothing`(_ arguments: [String]) throws {
        let (code, transcript) = try run(arguments, properties: "bootstrap.servers=127.0.0.1:1\n")
        #expect(code == 2 && transcript.error.contains("group.id is missing"), "\(transcript.error)")
    }

    @Test func `an unchecked partitioner is refused by import-keys, the others are not`() throws {
        let arguments = Self.commands[0]
        let (code, transcript) = try run(arguments, worker: #""partitioner":"unchecked""#, keys: "{")
        #expect(code == 2 && transcript.error.contains("partitioner is unchecked"))
        for name in ["murmur2", "crc32"] {
            let (code, transcript) = try run(arguments, worker: #""partitioner":"\#(name)""#, keys: "{")
            #expect(code == 1 && transcript.error.contains("line 1: invalid JSON"), "\(transcript.error)")
        }
    }

    @Test func `an unreadable line is named before a broker is contacted`() throws {
        let good = KeySamples.file([KeySamples.key(1)])
        let long = good.dropLast(2) + #","app":"\#(String(repeating: "x", count: 65_536))"}"# + "\n"
        for (line, reason) in [("{}", "keyId is missing"), (long, "it is longer than 65536 bytes")] {
            let (code, transcript) = try run(Self.commands[0], keys: good + "\n" + line)
            #expect(code == 1)
            #expect(transcript.error.contains("/KEYS: line 3: \(reason)"), "\(transcript.error)")
            #expect(transcript.error.filter(\.isNewline).count == 1)
        }
        let absent = try run(["import-keys", "--config", "DIR", "--input", "DIR/absent"])
        #expect(absent.code == 1 && absent.transcript.error.contains("no such file"))
    }
}
