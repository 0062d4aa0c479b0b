internal import JSON
package import Streams

/// The members of a result that tests ask for.
package struct ReadResult: Equatable, Sendable {
    package var requestID: String
    package var path: String
    package var verdict: String
    package var reason: String?
    package var code: Int64
    package var duplicate: Bool
    package var partition: Int64
    package var offset: Int64
    package var counter: Int64?
    package var previousCounter: Int64?
    package var environment: String?

    package struct Unreadable: Error {}

    package init(_ record: OutboundRecord) throws {
        let root = try JSONDocument(parsing: record.value ?? []).root
        guard record.stream == .results, let requestID = root["requestId"]?.string,
            let verdict = root["verdict"]?.string, let code = root["status"]?["code"]?.integer,
            let partition = root["source"]?["partition"]?.integer, let offset = root["source"]?["offset"]?.integer,
            let path = root["path"]?.string, root["keyId"] != nil, root["evaluatedAt"] != nil
        else { throw Unreadable() }
        self.requestID = requestID
        self.path = path
        self.verdict = verdict
        self.code = code
        self.partition = partition
        self.offset = offset
        reason = root["reason"]?.string
        duplicate = root["duplicate"]?.bool ?? false
        let evidence = root["evidence"]
        counter = evidence?["counter"]?.integer
        previousCounter = evidence?["previousCounter"]?.integer
        environment = evidence?["environment"]?.string
    }

    /// `accepted`, `accepted (duplicate)` or the reason.
    package var summary: String { reason ?? (duplicate ? verdict + " (duplicate)" : verdict) }
}

extension OutboundRecord {
    /// Key and value as texts.
    var keyText: String { String(decoding: key ?? [], as: UTF8.self) }
    var text: String { String(decoding: value ?? [], as: UTF8.self) }
}

extension LoopRun {
    /// Outcome by offset: a result's summary, or the dead letter's reason in brackets. Partition 0 only.
    package func outcomes() throws -> [Int64: String] {
        var outcomes: [Int64: String] = [:]
        for output in outputs where output.partition == 0 {
            switch output.stream {
            case .results: outcomes[output.sourceOffset] = try ReadResult(output).summary
            case .deadLetters:
                let reason = output.headers.last { $0.name == Array("dlq.reason".utf8) }?.value ?? []
                outcomes[output.sourceOffset] = "[\(String(decoding: reason, as: UTF8.self))]"
            default: break
            }
        }
        return outcomes
    }
}
