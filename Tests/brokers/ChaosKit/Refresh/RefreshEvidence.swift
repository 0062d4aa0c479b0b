internal import AppAttest
internal import AppCheck
internal import BrokerKit
internal import Crypto
internal import DeviceLab
internal import Foundation
internal import JSON
internal import Kafka
internal import Pipeline
internal import Risk
internal import Streams

/// What a run of the fraud metric left behind.
package struct RefreshEvidence: Sendable, Equatable {
    package enum Request: Sendable, Equatable {
        case attestation
        case assertion
        /// What Apple answered, with its creation in seconds since 1970.
        case receipt([UInt8], createdAt: Int64)
        case forget
    }

    /// A key's request with its result.
    package struct Step: Sendable, Equatable {
        package var request: Request
        package var requestID: String
        package var isAccepted = true
        package var isDuplicate = false
        package var reason: String?
        /// The metric's creation that an assertion's evidence has, in seconds.
        package var shown: Int64?
        /// The metric in a receipt; nil = none, or not one to nine digits.
        package var metric: Int64?

        package init(_ request: Request, id: String) { (self.request, requestID) = (request, id) }
    }

    package struct Metric: Sendable, Equatable {
        package var value: Int64
        package var createdAt: Int64

        package init(_ value: Int64, createdAt: Int64) { (self.value, self.createdAt) = (value, createdAt) }
    }

    /// The last value of a key in the receipts topic.
    package enum Held: Sendable, Equatable {
        case attestation
        case receipt([UInt8])
        case tombstone
    }

    /// By key ID, in the order of the requests.
    package var steps: [String: [Step]] = [:]
    package var ledger: [String: Metric?] = [:]
    package var topic: [String: Held] = [:]
    /// The request IDs of `AppAttestRisk`.
    package var events: [String] = []
    /// What passed the relay.
    package var calls: [RelayedCall] = []
    /// By key ID: how the calls with its receipts ended, in words, and how many of the answers have no metric that counts.
    package var endings: [String: [String]] = [:]
    package var failures: [String: Int] = [:]
    /// Each of them ends with an answer, or without one that is whole.
    package var exchanges = 0
    /// How many answered calls there may be at most.
    package var mostFinalCalls = Int.max
    /// Requests without a result, and such with more than one.
    package var strays: [String] = []

    package init() {}
}

// MARK: - Reading

extension RefreshEvidence {
    /// Reads the topics, the exported ledger and the relay's calls.
    package init(_ site: RefreshSite) throws {
        let workplace = site.workplace
        var places: [Place: (key: String, index: Int)] = [:]
        var open: [Place: String] = [:]
        for record in try workplace.records(of: workplace.requests) {
            let (key, step) = try Self.step(record)
            places[Place(record)] = (key, steps[key, default: []].count)
            open[Place(record)] = step.requestID
            steps[key, default: []].append(step)
        }
        for record in try workplace.records(of: workplace.topic("results")) {
            let root = try JSONDocument(parsing: record.value ?? []).root
            guard let offset = root["source"]?["offset"]?.integer,
                let (key, index) = places[Place(partition: record.partition, offset: offset)]
            else { throw ChaosOutcome.Unreadable(description: "no result at \(Place(record))") }
            if open.removeValue(forKey: Place(partition: record.partition, offset: offset)) == nil {
                strays.append("\(record.partition)/\(offset) has two results")
            }
            steps[key]?[index].take(root)
        }
        strays += open.keys.sorted().map { "\($0) has no result" }
        try readTopic(of: site)
        try readLedger(of: site)
        for record in try workplace.records(of: workplace.topic("events")) {
            let root = try JSONDocument(parsing: record.value ?? []).root
            if root["event"]?.string == "AppAttestRisk" { events.append(root["requestId"]?.string ?? "") }
        }
        (calls, exchanges) = (site.relay.calls, try site.exchanges())
        let verifier = ObjectVerifier(anchors: try workplace.ca.anchors())
        for call in calls {
            guard let publicKey = ReceiptContent(unverified: call.receipt)?.publicKey else { continue }
            let key = String(decoding: KeyID(of: publicKey).recordKey, as: UTF8.self)
            let status = call.status.map(String.init) ?? "none"
            endings[key, default: []].append("\(status) with \(call.answer.count) bytes")
            if call.isFinal, !Self.brings(call, by: verifier) { failures[key, default: 0] += 1 }
        }
    }

    /// Whether the answer has a metric that must count.
    private static func brings(_ call: RelayedCall, by verifier: ObjectVerifier) -> Bool {
        guard let answer = call.answeredReceipt,
            ReceiptContent(unverified: answer)?.riskMetric.flatMap({ number($0.shown) }) != nil,
            let judgement = RefreshJudgement(
                sent: call.receipt,
                appID: AppID(RefreshSite.appID),
                environment: .production
            )
        else { return false }
        let time = EvaluationTime(milliseconds: call.time)
        return (try? judgement.judge(answer, at: time, by: verifier, engine: OpenSSLEngine()).get()) != nil
    }

    private static func number(_ text: String) -> Int64? {
        (1...9).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }

    private static func step(_ record: KafkaRecord) throws -> (key: String, step: Step) {
        let root = try JSONDocument(parsing: record.value ?? []).root
        let id = record.headers.last { $0.name == Array("request-id".utf8) }?.value ?? []
        let key = String(decoding: record.key ?? [], as: UTF8.self)
        let verb = root["path"]?.string?.split(separator: ":").last.map(String.init)
        let request: Request
        var metric: Int64?
        switch verb {
        case "verifyAttestation": request = .attestation
        case "verifyAssertion": request = .assertion
        case "forget": request = .forget
        case "verifyReceipt":
            guard let receipt = root["body"]?["receipt"]?.base64Bytes,
                let content = ReceiptContent(unverified: receipt)
            else { throw ChaosOutcome.Unreadable(description: "no receipt at \(Place(record))") }
            request = .receipt(receipt, createdAt: content.createdAt.milliseconds / 1_000)
            metric = content.riskMetric.flatMap { Self.number($0.shown) }
        default: throw ChaosOutcome.Unreadable(description: "an unknown request at \(Place(record))")
        }
        var step = Step(request, id: String(decoding: id, as: UTF8.self))
        step.metric = metric
        return (key, step)
    }

    private mutating func readTopic(of site: RefreshSite) throws {
        for record in try site.workplace.records(of: site.receipts) {
            let isFresh = record.headers.contains { $0.name == Array("type".utf8) && $0.value == Array("ATTEST".utf8) }
            let held = record.value.map { isFresh ? Held.attestation : .receipt($0) } ?? .tombstone
            topic[String(decoding: record.key ?? [], as: UTF8.self)] = held
        }
    }

    private mutating func readLedger(of site: RefreshSite) throws {
        for line in try site.workplace.done("export-keys").output.utf8.split(separator: UInt8(ascii: "\n")) {
            let root = try JSONDocument(parsing: Array(line)).root
            guard let key = root["keyId"]?.string else {
                throw ChaosOutcome.Unreadable(description: "no key in the export")
            }
            let risk = root["risk"]
            let metric = risk?["metric"]?.integer.flatMap { value in
                risk?["createdAt"]?.integer.map { Metric(value, createdAt: $0) }
            }
            ledger.updateValue(metric, forKey: key)
        }
    }
}

extension RefreshEvidence.Step {
    fileprivate mutating func take(_ result: JSONNode) {
        isAccepted = result["verdict"]?.string == "accepted"
        isDuplicate = result["duplicate"]?.bool ?? false
        reason = result["reason"]?.string
        shown = result["evidence"]?["risk"]?["createdAt"]?.string.flatMap(Self.seconds)
    }

    private static func seconds(_ text: String) -> Int64? {
        let plain = Date.ISO8601FormatStyle()
        let date =
            (try? plain.parse(text)) ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
        return date.map { Int64($0.timeIntervalSince1970) }
    }
}
