internal import AppAttest
internal import BrokerKit
internal import Foundation
internal import JSON
internal import Streams

/// What a run of the fraud metric left behind.
package struct RefreshEvidence: Sendable, Equatable {
    package struct Metric: Sendable, Equatable {
        package var value: Int64
        /// Seconds since 1970.
        package var createdAt: Int64
    }

    /// A key's record in the receipts topic.
    package enum Held: Sendable, Equatable {
        case tombstone, attestation
        case receipt([UInt8])
    }

    /// A key in the ledger, and its last record in the receipts topic.
    package struct Key: Sendable, Equatable {
        package var isKnown = false
        package var metric: Metric?
        package var held = Held.tombstone
    }

    /// By key ID: what the results have made of it, and what it is.
    package var due: [String: Key] = [:]
    package var found: [String: Key] = [:]
    /// By key ID, the receipts of Apple that have become requests.
    package var receipts: [String: [[UInt8]]] = [:]
    /// The request IDs of those that moved a metric, and of `AppAttestRisk`.
    package var accepted: [String] = []
    package var events: [String] = []
    /// How many requests have each outcome; see ``Outcomes/counts``.
    package var outcomes: [String: Int] = [:]
    /// Results of assertions that have the key's metric.
    package var shown = 0
    package var calls: [AppleDouble.Call] = []
    /// By key ID, how many exchanges of its receipts the lines' positions have passed.
    package var passed: [String: Int] = [:]
    /// Those that they have not, in words.
    package var unread: [String] = []
}

// MARK: - Reading

extension RefreshEvidence {
    /// Reads everything, after all processes have ended. A request without an outcome, and one with two, is an issue of the
    /// test.
    package init(_ site: RefreshSite) throws {
        let (workplace, all) = (site.workplace, try Outcomes(of: site.workplace))
        outcomes = all.counts
        for (place, record) in all.requests.sorted(by: { $0.key < $1.key }) {
            let result = try JSONDocument(parsing: all.results[place]?.value ?? Array("{}".utf8)).root
            try take(record, all.summaries[place], shown: Metric(result["evidence"]?["risk"]))
        }
        for record in try workplace.records(of: site.receipts) {
            let isFresh = record.text(of: "type") == "ATTEST"
            found[record.keyText, default: Key()].held =
                record.value.map { isFresh ? Held.attestation : .receipt($0) } ?? .tombstone
        }
        for line in try workplace.done("export-keys").output.utf8.split(separator: UInt8(ascii: "\n")) {
            let root = try JSONDocument(parsing: Array(line)).root
            let key = root["keyId"]?.string ?? ""
            found[key, default: Key()].isKnown = true
            found[key]?.metric = Metric(root["risk"])
        }
        for record in try workplace.records(of: workplace.topic("events")) {
            let root = try JSONDocument(parsing: record.value ?? []).root
            if root["event"]?.string == "AppAttestRisk" { events.append(root["requestId"]?.string ?? "") }
        }
        calls = site.apple.calls
        (passed, unread) = try site.lineWork()
    }

    private mutating func take(_ request: InboundRecord, _ outcome: String?, shown metric: Metric?) throws {
        let root = try JSONDocument(parsing: request.value ?? []).root
        var key = due[request.keyText] ?? Key()
        defer { due[request.keyText] = key }
        switch root["path"]?.string?.split(separator: ":").last.map(String.init) {
        case "verifyAttestation" where outcome == "accepted": (key.isKnown, key.held) = (true, .attestation)
        case "verifyAssertion" where metric != nil && metric == key.metric: shown += 1
        case "forget" where outcome == "accepted": key = Key()
        case "verifyReceipt":
            guard let receipt = root["body"]?["receipt"]?.base64Bytes,
                let content = ReceiptContent(unverified: receipt),
                let value = content.riskMetric.flatMap({ Int64($0.shown) })
            else { throw ChaosOutcome.Unreadable(description: "no receipt at \(RecordPlace(request))") }
            receipts[request.keyText, default: []].append(receipt)
            guard outcome == "accepted" else { break }
            key.metric = Metric(value: value, createdAt: content.createdAt.milliseconds / 1_000)
            key.held = .receipt(receipt)
            accepted.append(request.text(of: "request-id") ?? "")
        default: break
        }
    }
}

extension RefreshEvidence.Metric {
    /// - Parameter risk: a result's, whose creation is a text, or an exported key's, which has seconds.
    fileprivate init?(_ risk: JSONNode?) {
        guard let value = risk?["metric"]?.integer, let createdAt = risk?["createdAt"] else { return nil }
        let date = createdAt.string.flatMap { try? Date.ISO8601FormatStyle().parse(String($0.prefix(19)) + "Z") }
        guard let seconds = createdAt.integer ?? date.map({ Int64($0.timeIntervalSince1970) }) else { return nil }
        self.init(value: value, createdAt: seconds)
    }
}
