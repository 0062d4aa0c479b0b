internal import Foundation
internal import JSON
internal import TestKit
internal import Testing

@testable internal import Commands
@testable internal import Settings

/// What the worker writes is what its schemas say.
@Suite("Schemas of records")
struct RecordSchemaTests {
    private static func schema(_ name: String) throws -> JSONTree {
        try #require(ContractSchema.all.first { $0.name == name }).schema
    }

    /// Expects of a file's lines that they are at least so many, and follow a schema.
    private static func expect(
        _ folder: some FileFolder,
        _ file: String,
        _ name: String,
        least: Int,
        _ value: (JSONNode) throws -> JSONNode = payload
    ) throws {
        let (schema, lines) = (try schema(name), try folder.jsonLines(file))
        let violations = try lines.compactMap { line -> String? in
            let root = try value(line)
            let found = SchemaCheck(isClosed: true).violation(of: root, by: schema)
            return found.map { "\($0) in \(String(decoding: root.writtenText.prefix(400), as: UTF8.self))" }
        }
        #expect(lines.count >= least && violations == [], "\(file), \(name): \(lines.count) lines, \(violations)")
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

    @Test func `results, events and dead letters of every reason follow their schemas`() throws {
        let lab = try ReasonCapture.shared.get().lab
        try Self.expect(lab, "out/results.ndjson", "result", least: 101)
        try Self.expect(lab, "out/results.ndjson", "result-headers", least: 101) { try Self.headers($0, "") }
        try Self.expect(lab, "out/events.ndjson", "event", least: 3)
        try Self.expect(lab, "out/dead-letters.ndjson", "dead-letter-headers", least: 4) {
            try Self.headers($0, "dlq.")
        }
        try Self.expect(lab, "keys.ndjson", "keys", least: 1) { $0 }
    }

    @Test func `results and events of a simulated fleet follow their schemas`() throws {
        let folder = try SimulationFolder.configured()
        let load = ["--devices", "200", "--records", "5000", "--faults", "0.4", "--seed", "7"]
        _ = try folder.capture(load + SimulationFolder.allVerbs)
        try folder.replayed(["--mint"])
        try Self.expect(folder, "out/results.ndjson", "result", least: 5000)
        try Self.expect(folder, "out/events.ndjson", "event", least: 501)
    }

    private static let digest = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    /// A right value of a schema, with every member of a line of KEYS.
    private static let right = [
        "result": """
        {"requestId":"a","path":"p","keyId":null,"verdict":"refused","reason":"unknown-key",\
        "status":{"code":403,"status":"PERMISSION_DENIED","message":"App attestation failed."},\
        "source":{"topic":"t","partition":0,"offset":1,"timestamp":2},"evaluatedAt":"2026-11-20T12:00:00Z"}
        """,
        "result-headers": #"{"request-id":"a","status":"403"}"#,
        "keys": """
        {"keyId":"\(digest)","publicKey":"BA==","appleAppId":"T.b","environment":"production","counter":7,\
        "app":"projects/1/apps/a","nonce":"\(digest)","issued":{"notBefore":1,"serial":2},\
        "lastRequest":{"id":"a","valueSha256":"\(digest)","verdict":"accepted","iat":1,"exp":null},"banned":{"since":1},\
        "risk":{"metric":65535,"createdAt":1}}
        """,
    ]

    @Test(
        arguments: [
            ("result", #""verdict":"refused""#, #""verdict":"accepted""#), ("result", #""reason":"#, #""reasons":"#),
            ("result", #""code":403"#, #""code":"403""#), ("result", #""verdict":"refused""#, #""verdict":"maybe""#),
            ("result", #""partition":0"#, #""partition":-1"#), ("result", #""evaluatedAt":""#, #""evaluatedAt":" "#),
            ("result-headers", "403", ""), ("result-headers", "403", "1000"), ("result-headers", "403", "4x3"),
            ("keys", #""counter":"#, #""counter":-"#), ("keys", #""serial":"#, #""serial":-"#),
            ("keys", #""exp":null"#, #""exp":-1"#), ("keys", #""publicKey":"B"#, #""publicKey":"B!"#),
        ]
    )
    func `a value with one fault is refused by its schema`(name: String, good: String, bad: String) throws {
        let (schema, text) = (try Self.schema(name), try #require(Self.right[name]))
        func violation(_ text: String) throws -> String? {
            let root = try JSONDocument(parsing: Array(text.utf8)).root
            return SchemaCheck(isClosed: name == "result").violation(of: root, by: schema)
        }
        #expect(try violation(text) == nil && text.contains(good))
        #expect(try violation(text.replacing(good, with: bad)) != nil)
        if name == "keys" { #expect(throws: Never.self) { try KeyLine.decode(Array(text.utf8)) } }
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
        let lab = try ReasonCapture.shared.get().lab
        let folder = try SimulationFolder()
        var values: [(name: String, text: String)] = try ["worker.json", "apps.json"].map {
            ($0, try lab.text("config/" + $0))
        }
        for (name, file) in [("result", "results"), ("event", "events")] {
            for line in try lab.jsonLines("out/\(file).ndjson") {
                values.append((name, try #require(line["payload"]?.string)))
            }
        }
        for line in try lab.text("keys.ndjson").split(separator: "\n") { values.append(("keys", String(line))) }
        values.append(("kafka.properties", #"{"bootstrap.servers":"a:9092"}"#))
        values.append(("result-headers", #"{"request-id":"a","status":"403"}"#))
        values.append(("dead-letter-headers", #"{"dlq.reason":"not-json","dlq.topic":"t","dlq.partition":"0"}"#))
        let parts = #"[{"heading":"a"},{"tiles":[{"name":"b","value":1}]},{"reasons":[{"title":"c","pairs":[]}]}]"#
        values.append(("report", #"{"title":"","lead":"","sections":[{"id":"a","title":"b","parts":\#(parts)}]}"#))
        let cases = try values.flatMap { name, text in try Self.cases(name, text) }.joined(separator: "\n")
        try folder.write(cases + "\n", to: "cases.ndjson")
        for entry in ContractSchema.all { try folder.write(entry.text, to: entry.name) }
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
