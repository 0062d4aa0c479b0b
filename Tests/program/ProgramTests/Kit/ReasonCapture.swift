internal import AppAttest
internal import JSON
internal import Streams
internal import TestKit
import Testing

/// One replay of every reason with its explanations and its page, which several suites look at.
struct ReasonCapture: Sendable {
    static let shared = Result { try ReasonCapture() }

    let lab: EveryReason
    let outcomes: [Int64: EveryReason.Outcome]
    /// The explanations by offset.
    let lines: [Int64: JSONNode]
    let page: String

    private init() throws {
        lab = try EveryReason()
        try lab.judge(["--explain", lab.file("explained.ndjson"), "--report", lab.file("report.html")])
        outcomes = try lab.outcomes("out")
        lines = try lab.explained()
        page = try lab.text("report.html")
    }

    /// `inspect` of one record, as JSON.
    func inspect(_ offset: Int64) throws -> Transcript {
        try lab.inspect("0/\(offset)", ["--keys", lab.file("keys.ndjson"), "--json"])
    }
}

extension EveryReason {
    /// The reason, nil = accepted, and the key ID of a device's result.
    typealias Outcome = (reason: String?, keyID: String?, isLetter: Bool)

    /// Replays the capture with its keys.
    @discardableResult
    func judge(_ more: [String] = [], output: String = "out") throws -> Transcript {
        try replayed(["--keys", file("keys.ndjson")] + more, output: output)
    }

    /// By offset.
    func outcomes(_ output: String) throws -> [Int64: Outcome] {
        var outcomes: [Int64: Outcome] = [:]
        for record in try captured(output + "/results.ndjson") {
            let root = try record.json
            // An operator's command names a key, and is no device's.
            let isOperators = root["path"]?.string?.hasPrefix("v1/operator:") == true
            outcomes[record.offset] = (root["reason"]?.string, isOperators ? nil : root["keyId"]?.string, false)
        }
        for record in try captured(output + "/dead-letters.ndjson") {
            let header = record.headers.last { $0.name.elementsEqual("dlq.reason".utf8) }
            outcomes[record.offset] = (String(decoding: header?.value ?? [], as: UTF8.self), nil, true)
        }
        return outcomes
    }

    /// The tokens, artifacts and challenges of each record that has some, as written and in hexadecimal digits.
    var secrets: [(offset: Int64, texts: [String])] {
        records.compactMap { record in
            guard let body = try? record.json["body"] else { return nil }
            let names = ["challenge", "artifact", "app_check_token"] as [StaticString]
            let secrets = names.compactMap { body[$0] }.filter { ($0.string?.count ?? 0) > 20 }
            let texts = secrets.flatMap { [$0.string, $0.base64Bytes.map(Hexadecimal.encode)].compactMap(\.self) }
            return texts.isEmpty ? nil : (offset: record.offset, texts: texts)
        }
    }
}
