internal import Foundation
internal import JSON
internal import TestKit
internal import Testing

@testable internal import Commands
@testable internal import Settings

/// What the worker writes is what its schemas say.
@Suite("Schemas of records")
struct RecordSchemaTests {
    private static let every = Result { try EveryReason() }

    private static func schema(_ name: String) throws -> JSONTree {
        try #require(ContractSchema.all.first { $0.name == name }).schema
    }

    /// The first violations of a file's lines, with how many lines there are.
    private static func check(
        _ path: String,
        _ name: String,
        _ value: (JSONNode) throws -> JSONNode
    ) throws -> (count: Int, violations: [String]) {
        let schema = try schema(name)
        let lines = try Data(contentsOf: URL(filePath: path)).split(separator: UInt8(ascii: "\n"))
        let violations = try lines.compactMap { line -> String? in
            let root = try JSONDocument(parsing: Array(line)).root
            guard let found = SchemaCheck(isClosed: true).violation(of: try value(root), by: schema) else { return nil }
            return "\(found) in \(String(decoding: line.prefix(400), as: UTF8.self))"
        }
        return (lines.count, violations)
    }

    private static func payload(_ line: JSONNode) throws -> JSONNode {
        try JSONDocument(parsing: Array(try #require(line["payload"]?.string).utf8)).root
    }

    /// Names and values as an object of strings, as the schema describes them.
    private static func headers(_ line: JSONNode, _ prefix: String) throws -> JSONNode {
        let texts = (line["headers"]?.elements ?? []).map { $0.string ?? "" }
        let pairs = stride(from: 0, to: texts.count - 1, by: 2).filter { texts[$0].hasPrefix(prefix) }
        let members = pairs.map { JSONTree.Member(name: texts[$0], value: .string(texts[$0 + 1])) }
        return try JSONDocument(parsing: Array(JSONTree.object(members).line.utf8)).root
    }

    private static func replay(
        _ config: String,
        _ capture: String,
        keys: String?,
        to output: String,
        _ more: String...
    ) throws {
        let arguments = ["replay", "--config", config, "--input", capture, "--output", output]
        let run = Transcript.run(arguments + more + (keys.map { ["--keys", $0] } ?? []))
        try #require(run.code == 0, "\(run.transcript.error)")
    }

    @Test func `results, events and dead letters of every reason follow their schemas`() throws {
        let every = try Self.every.get()
        let output = every.path + "/schema-check"
        try Self.replay(every.config, every.path + "/capture.ndjson", keys: every.path + "/keys.ndjson", to: output)
        let results = try Self.check(output + "/results.ndjson", "result", Self.payload)
        #expect(results.count > 100)
        #expect(results.violations == [])
        let named = try Self.check(output + "/results.ndjson", "result-headers") { try Self.headers($0, "") }
        #expect(named.count == results.count && named.violations == [])
        let events = try Self.check(output + "/events.ndjson", "event", Self.payload)
        #expect(events.count >= 3 && events.violations == [])
        let letters = try Self.check(output + "/dead-letters.ndjson", "dead-letter-headers") {
            try Self.headers($0, "dlq.")
        }
        #expect(letters.count > 3 && letters.violations == [])
        let keys = try Self.check(every.path + "/keys.ndjson", "keys") { $0 }
        #expect(keys.count >= 1 && keys.violations == [])
    }

    @Test func `results and events of a simulated fleet follow their schemas`() throws {
        let folder = try SimulationFolder()
        let verbs =
            "generateAppAttestChallenge,exchangeAppAttestAttestation,exchangeAppAttestAssertion,"
            + "verifyAttestation,verifyAssertion,verifyAppCheckToken"
        let simulation = Transcript.run(
            [
                "simulate", "--config", folder.path + "/config", "--new-config", "--devices", "200", "--records",
                "5000",
                "--faults", "0.4", "--verbs", verbs, "--seed", "7", "--output", folder.path + "/capture.ndjson",
            ]
        )
        try #require(simulation.code == 0, "\(simulation.transcript.error)")
        let output = folder.path + "/out"
        try Self.replay(folder.path + "/config", folder.path + "/capture.ndjson", keys: nil, to: output, "--mint")
        let results = try Self.check(output + "/results.ndjson", "result", Self.payload)
        #expect(results.count == 5000 && results.violations == [])
        let events = try Self.check(output + "/events.ndjson", "event", Self.payload)
        #expect(events.count > 500 && events.violations == [])
    }

    @Test(
        arguments: [
            (#""verdict":"refused""#, #""verdict":"accepted""#), (#""reason":"#, #""reasons":"#),
            (#""code":403"#, #""code":"403""#), (#""verdict":"refused""#, #""verdict":"maybe""#),
            (#""partition":0"#, #""partition":-1"#), (#""evaluatedAt":""#, #""evaluatedAt":" "#),
        ]
    )
    func `a result with one fault is refused by the schema`(good: String, bad: String) throws {
        let text = """
            {"requestId":"a","path":"p","keyId":null,"verdict":"refused","reason":"unknown-key",\
            "status":{"code":403,"status":"PERMISSION_DENIED","message":"App attestation failed."},\
            "source":{"topic":"t","partition":0,"offset":1,"timestamp":2},"evaluatedAt":"2026-11-20T12:00:00Z"}
            """
        let schema = try Self.schema("result")
        func violation(_ text: String) throws -> String? {
            SchemaCheck(isClosed: true).violation(of: try JSONDocument(parsing: Array(text.utf8)).root, by: schema)
        }
        #expect(try violation(text) == nil)
        #expect(text.contains(good))
        #expect(try violation(text.replacingOccurrences(of: good, with: bad)) != nil)
    }

    @Test(arguments: [("403", true), ("200", true), ("", false), ("1000", false), ("4x3", false)])
    func `a result's header of a status has three digits`(status: String, isGood: Bool) throws {
        let text = #"{"request-id":"a","status":"\#(status)"}"#
        let root = try JSONDocument(parsing: Array(text.utf8)).root
        #expect((SchemaCheck().violation(of: root, by: try Self.schema("result-headers")) == nil) == isGood)
    }

    @Test(arguments: [
        ("", true), (#""counter":"#, false), (#""serial":"#, false), (#""exp":"#, false), (#""publicKey":"B"#, false),
    ])
    func `a line of KEYS with every member follows its schema, and none with a fault`(
        fault: String,
        isGood: Bool
    ) throws {
        let digest = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        let line = """
            {"keyId":"\(digest)","publicKey":"BA==","appleAppId":"T.b","environment":"production","counter":7,\
            "app":"projects/1/apps/a","nonce":"\(digest)","issued":{"notBefore":1,"serial":2},\
            "lastRequest":{"id":"a","valueSha256":"\(digest)","verdict":"accepted","iat":1,"exp":null},"banned":{"since":1},\
            "risk":{"metric":65535,"createdAt":1}}
            """
        let changed =
            fault.isEmpty
            ? line : line.replacingOccurrences(of: fault, with: fault.hasSuffix("B") ? "\(fault)!" : "\(fault)-")
        let root = try JSONDocument(parsing: Array(changed.replacingOccurrences(of: "-null", with: "-1").utf8)).root
        #expect((SchemaCheck().violation(of: root, by: try Self.schema("keys")) == nil) == isGood)
        if isGood { #expect(throws: Never.self) { try KeyLine.decode(Array(line.utf8)) } }
    }

    /// Lines of {schema, value, ours}; prints those whose verdict differs, and checks the schemas themselves.
    private static let judge = """
        import json, sys
        from jsonschema import Draft202012Validator as Validator
        folder, known = sys.argv[1], {}
        for line in open(folder + "/cases.ndjson", encoding="utf-8"):
            case = json.loads(line)
            name = case["schema"]
            if name not in known:
                schema = json.load(open(folder + "/" + name, encoding="utf-8"))
                Validator.check_schema(schema)
                known[name] = Validator(schema)
            if known[name].is_valid(case["value"]) != case["ours"]: print("differs:", line[:400])
        print(len(known), "schemas")
        """

    @Test(.enabled(if: PythonLab.python != nil, "\(PythonLab.whyMissing)"))
    func `our reading of a schema is that of a library, and every schema is one`() throws {
        let every = try Self.every.get()
        let folder = try SimulationFolder()
        let output = folder.path + "/out"
        try Self.replay(every.config, every.path + "/capture.ndjson", keys: every.path + "/keys.ndjson", to: output)
        var values: [(name: String, text: String)] = try ["worker.json", "apps.json"].map {
            ($0, String(decoding: try Data(contentsOf: URL(filePath: every.config + "/" + $0)), as: UTF8.self))
        }
        for (name, file) in [("result", "results"), ("event", "events")] {
            let lines = try Data(contentsOf: URL(filePath: "\(output)/\(file).ndjson")).split(separator: 0x0A)
            for line in lines {
                values.append((name, try #require(try JSONDocument(parsing: Array(line)).root["payload"]?.string)))
            }
        }
        for line in try Data(contentsOf: URL(filePath: every.path + "/keys.ndjson")).split(separator: 0x0A) {
            values.append(("keys", String(decoding: line, as: UTF8.self)))
        }
        values.append(("kafka.properties", #"{"bootstrap.servers":"a:9092"}"#))
        values.append(("result-headers", #"{"request-id":"a","status":"403"}"#))
        values.append(("dead-letter-headers", #"{"dlq.reason":"not-json","dlq.topic":"t","dlq.partition":"0"}"#))
        let parts = #"[{"heading":"a"},{"tiles":[{"name":"b","value":1}]},{"reasons":[{"title":"c","pairs":[]}]}]"#
        values.append(("report", #"{"title":"","lead":"","sections":[{"id":"a","title":"b","parts":\#(parts)}]}"#))
        let cases = try values.flatMap { name, text in try Self.cases(name, text) }.joined(separator: "\n")
        try Data((cases + "\n").utf8).write(to: URL(filePath: folder.path + "/cases.ndjson"))
        for entry in ContractSchema.all {
            try Data(entry.text.utf8).write(to: URL(filePath: folder.path + "/" + entry.name))
        }
        let run = PythonLab.run([try PythonLab.state.get(), "-c", Self.judge, folder.path])
        #expect(String(decoding: run.output, as: UTF8.self) == "9 schemas\n", "\(run.error)")
    }

    /// A value and what becomes of it where one word of it is changed, each with our verdict.
    private static func cases(_ name: String, _ text: String) throws -> [String] {
        let schema = try schema(name)
        let changes = [
            ("\"", "\""), ("\"bootstrap.servers\"", "\"topic.acks\""), ("\"accepted\"", "\"refused\""),
            ("\"counter\":", "\"counter\":-"), ("{\"", "{\"x\":1,\""),
            ("\"keyId\":", "\"keyID\":"), (":true", ":false"), ("Z\"", "z\""), ("=\"", "\""), (":[", ":[7,"),
            ("\"production\"", "\"test\""), ("\"not-json\"", "\"o ther\""), ("\"limitedUse\":", "\"limitedUse\":1"),
        ]
        return changes.compactMap { old, new in
            guard text.contains(old) else { return nil }
            let changed = text.replacingOccurrences(of: old, with: new)
            guard let root = try? JSONDocument(parsing: Array(changed.utf8)).root else { return nil }
            let ours = SchemaCheck().violation(of: root, by: schema) == nil
            let value = changed.replacingOccurrences(of: "\n", with: " ")
            return "{\"schema\":\"\(name)\",\"ours\":\(ours),\"value\":\(value)}"
        }
    }
}
