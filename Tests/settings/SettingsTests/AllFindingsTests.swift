import Foundation
import Settings
import TestKit
import Testing

@Suite("All that is wrong in a configuration, in one run")
struct AllFindingsTests {
    private static func lines(
        worker: String = ConfigurationDirectory.worker,
        apps: String = ConfigurationDirectory.apps,
        properties: String = "",
        complaint: @escaping (String, String) -> String? = { _, _ in nil }
    ) throws -> [String] {
        let directory = try ConfigurationDirectory(worker: worker, apps: apps, properties: properties)
        var files = ConfigurationFiles(directory: directory.path)
        files.propertyComplaint = complaint
        let fault = #expect(throws: ConfigurationFault.self) { try Configuration.load(files) }
        return try #require(fault).lines
    }

    @Test func `each file's faults are a line each, in the order of their settings`() throws {
        let lines = try Self.lines(
            worker: ConfigurationDirectory.worker(
                #""lanes":-1,"lane":2,"log":{"level":"loud"},"#
                    + #""signingKeys":[{"kid":"a"},{"kid":"b","file":"f","use":1}]"#
            ),
            apps: ConfigurationDirectory.apps(#""receipt":"maybe","environments":["prod","development","dev"]"#),
            properties: "a\nacks=1\nb=1\nb=2\n"
        )
        #expect(
            lines.map { $0.prefix { $0 != "," } } == [
                "worker.json: lane: unknown key; known keys: topics",
                "worker.json: lanes: must be an integer from 0 to 1024",
                "worker.json: log.level: must be one of debug",
                "worker.json: signingKeys[0]: must name where the key is: one of file",
                "worker.json: signingKeys[1].use: unknown key; known keys: kid",
                "apps.json: projects[0].apps[0].environments[0]: must be one of development",
                "apps.json: projects[0].apps[0].environments[2]: must be one of development",
                "apps.json: projects[0].apps[0].receipt: must be one of report",
                "kafka.properties: line 1: must be key=value or a comment that starts with #.",
                "kafka.properties: line 2: acks: exactly-once needs the idempotent producer's own values; remove the line.",
                "kafka.properties: line 4: b appears twice; keep one.",
            ] as [Substring]
        )
    }

    @Test func `a fault in worker.json does not give others that come of it`() throws {
        let lines = try Self.lines(
            worker: ConfigurationDirectory.worker(#""limits":{"clientDataHashBytes":0}"#),
            apps: ConfigurationDirectory.apps(#""clientDataHash":{"bytes":65536}"#)
        )
        #expect(lines.count == 1 && lines[0].hasPrefix("worker.json: limits.clientDataHashBytes: "))
    }

    @Test func `what the library says of a property stands beside its line, once the value is filled in`() throws {
        let lines = try Self.lines(
            properties: "group.id=g\nlinger.ms=5ms\nsasl.password=${env:NO_SUCH_VARIABLE_HERE}\nacks=1\n",
            complaint: { name, value in value == "5ms" || value.contains("$") ? "\(name) is wrong" : nil }
        )
        #expect(lines.first == "kafka.properties: line 2: linger.ms: linger.ms is wrong.")
        #expect(lines.count == 2 && lines[1].hasPrefix("kafka.properties: line 4: acks: "))
    }

    @Test func `a line shows nothing that hides`() throws {
        let lines = try Self.lines(worker: ConfigurationDirectory.worker("\"la\u{202E}nes\":1"))
        #expect(lines[0].contains("la[U+202E]nes"))
    }
}

@Suite("Spelling of kafka.properties")
struct PropertySpellingTests {
    @Test(
        arguments: [
            ("group.id=\"ten\"", "the quotes would be part of the value"),
            ("group.id='ten'", "the quotes would be part of the value"),
            ("group.id=\"ten\"  # mine", "the quotes would be part of the value"),
            ("group.id=ten # mine", "what follows # would be part of the value"),
            ("group.id=ten\t#mine", "what follows # would be part of the value"),
            ("session.timeout.ms=10000 #", "what follows # would be part of the value"),
            ("group.id=#ten", "what follows # would be part of the value"),
        ]
    )
    func `quotes and comments behind a value are reported`(line: String, problem: String) throws {
        let fault = try ConfigurationDirectory(properties: "# a comment\n\(line)\n").fault()
        let name = line.prefix { $0 != "=" }
        #expect(fault?.hasPrefix("kafka.properties: line 2: \(name): \(problem)") == true, "\(fault ?? "none")")
    }

    @Test(
        arguments: [
            ("client.id=a#b", nil), ("client.id=\"", nil), ("client.id=it's", nil), ("client.id=", nil),
            ("sasl.password=x=y # z", nil), ("ssl.key.password=#1", nil), ("client.id=\"a", nil),
            ("sasl.password=\"secret\"", "the quotes are part"), ("ssl.key.password='a' # b", "the quotes are part"),
            ("sasl.username='a'", "the quotes are part"), ("sasl.oauthbearer.client.secret='a'", "the quotes are part"),
            ("client.id=\"a\"", "the quotes are part"), ("client.id=x #3", "what follows # is part"),
            ("sasl.username=worker # prod", "what follows # is part"), ("sasl.username=#1", "what follows # is part"),
        ] as [(String, String?)]
    )
    func `a value that anybody may choose stays, and a warning of one that may not mean itself does not show it`(
        line: String,
        problem: String?
    ) throws {
        let configuration = try ConfigurationDirectory(properties: line).load()
        let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        #expect(configuration.kafkaProperties.map(\.value) == [parts[1]])
        let doubts = configuration.doubts.filter { $0.hasPrefix("kafka.properties: line 1: \(parts[0]): ") }
        #expect(doubts.count == (problem == nil ? 0 : 1), "\(doubts)")
        if let problem { #expect(doubts[0].contains(": \(problem)") && !doubts[0].contains(parts[1])) }
    }

    @Test func `a value that is filled in may have quotes and signs`() throws {
        let directory = try ConfigurationDirectory(properties: "sasl.username=${file:name}\n")
        try directory.write("name", "\"a\" # b")
        #expect(try directory.load().kafkaProperties.map(\.value) == ["\"a\" # b"])
    }

    @Test(arguments: [("default, legacy", true), ("/tmp/x", false), ("default,../../x", false)])
    func `OpenSSL's own providers may be listed, and no other`(list: String, isTaken: Bool) throws {
        let fault = try ConfigurationDirectory(properties: "ssl.providers=\(list)\n").fault()
        #expect(isTaken ? fault == nil : fault?.hasPrefix("kafka.properties: line 1: ssl.providers: ") == true)
    }

    private static let kerberos = ["keytab", "principal"].map { "sasl.kerberos." + $0 }

    @Test(
        arguments: kerberos,
        ["a$(id)", "a`id`", "a\"; id; \"b", "a\\", "$HOME", "a\u{1}b", "a\u{7F}b"]
    )
    func `no value that reaches kinit's shell is more than a word, filled in or not`(
        name: String,
        value: String
    ) throws {
        let directory = try ConfigurationDirectory(properties: "\(name)=\(value)")
        let expected = "kafka.properties: line 1: \(name): a shell runs kinit with it"
        #expect(directory.fault()?.hasPrefix(expected) == true)
        try directory.write("kafka.properties", "\(name)=${file:value}")
        try directory.write("value", value)
        #expect(directory.fault()?.hasPrefix(expected) == true)
    }

    @Test(
        arguments: [
            "a;id", "a id", "a|id", "a&id", "a>f", "a<f", "(a)", "a*", "~a", "a'", "a#", "-c", "a!", "a\tb", "ä",
        ]
    )
    func `a principal stands outside quotes, so it has no other sign either`(value: String) throws {
        let fault = try ConfigurationDirectory(properties: "sasl.kerberos.principal=\(value)").fault()
        #expect(fault?.contains("a shell runs kinit with it") == true, "\(fault ?? "none")")
    }

    @Test(
        arguments: [
            ("keytab", "FILE:/etc/keys of ä's/worker#1;2.keytab"), ("keytab", "${file:name}"),
            ("principal", "worker/host-1.example.com@EXAMPLE.COM"), ("principal", "a_b+c=d,e:f"),
            ("service.name", "-kafka_$1"),
        ]
    )
    func `keytabs and principals of plain signs are taken, and any service name`(name: String, value: String) throws {
        let directory = try ConfigurationDirectory(properties: "sasl.kerberos.\(name)=\(value)")
        try directory.write("name", "/etc/k\n")
        #expect(directory.fault() == nil)
    }
}

@Suite("Apple's roots in the lists")
struct SwappedAnchorsTests {
    private static let attestation = "Apple_App_Attestation_Root_CA.pem"
    private static let receipt = "Apple_Root_CA_G3.pem"

    private static func fault(_ attestation: [String], _ receipt: [String]) throws -> ConfigurationFault? {
        let anchors = PackageFolder.url.appending(path: "Config/anchors").path
        func list(_ names: [String]) -> String { names.map { "\"\(anchors)/\($0)\"" }.joined(separator: ",") }
        let directory = try ConfigurationDirectory(
            worker: #"{"anchors":{"attestation":[\#(list(attestation))],"receipt":[\#(list(receipt))]}}"#
        )
        do throws(ConfigurationFault) { _ = try directory.load() } catch { return error }
        return nil
    }

    @Test func `each in the list of the other is refused, with the place of each`() throws {
        let lines = try #require(try Self.fault([Self.receipt], [Self.attestation])).lines
        #expect(lines.count == 2)
        #expect(lines[0].hasPrefix("worker.json: anchors.attestation[0]: ") && lines[0].contains("root of receipts"))
        #expect(lines[1].hasPrefix("worker.json: anchors.receipt[0]: ") && lines[1].contains("root of attestations"))
        #expect(try Self.fault([Self.receipt], [Self.receipt])?.lines.count == 1)
    }

    @Test func `in their places, and beside the right one, they are accepted`() throws {
        #expect(try Self.fault([Self.attestation], [Self.receipt]) == nil)
        #expect(try Self.fault([Self.attestation], []) == nil)
        #expect(try Self.fault([Self.attestation, Self.receipt], [Self.receipt, Self.attestation]) == nil)
    }
}
