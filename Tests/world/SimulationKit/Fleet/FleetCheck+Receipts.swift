internal import AppAttest
internal import AppCheck
internal import JSON
internal import Pipeline
internal import Streams

/// What the requests of one partition make of metrics and receipts, by their results alone.
private struct ReceiptBooks {
    /// The newest record of a key in the topic of receipts.
    enum Newest {
        case tombstone
        case receipt([UInt8])
        /// The receipt in this attestation.
        case attestation([UInt8])
    }

    private struct Unreadable: Error {}

    private(set) var metrics: [[UInt8]: RiskMetric] = [:]
    private(set) var newest: [[UInt8]: Newest] = [:]
    /// The requests that have an event.
    private(set) var events: [Int64] = []

    mutating func add(_ result: ReadResult, of request: InboundRecord) throws {
        let key = request.key ?? []
        let isNew = result.verdict == "accepted" && !result.duplicate
        switch result.path.split(separator: ":").last {
        case "forget" where isNew:
            metrics[key] = nil
            newest[key] = .tombstone
        case "verifyAttestation" where isNew:
            newest[key] = .attestation(try Self.bytes("attestationStatement", of: request))
        case "verifyReceipt" where isNew:
            let receipt = try Self.bytes("receipt", of: request)
            guard let content = ReceiptContent(unverified: receipt), let text = content.riskMetric,
                let value = UInt16(text.shown)
            else { throw Unreadable() }
            metrics[key] = RiskMetric(value, createdAt: UInt32(content.createdAt.milliseconds / 1_000))
            newest[key] = .receipt(receipt)
            events.append(request.offset)
        case "verifyReceipt" where result.reason == "unknown-key": newest[key] = .tombstone
        default: break
        }
    }

    private static func bytes(_ member: StaticString, of request: InboundRecord) throws -> [UInt8] {
        let body = try JSONDocument(parsing: request.value ?? []).root["body"]
        guard let text = body?[member]?.string, let bytes = Base64.decode(Array(text.utf8)) else { throw Unreadable() }
        return bytes
    }
}

extension ReceiptBooks.Newest? {
    /// Whether the topic has this as the key's last record; nil = none.
    fileprivate func agrees(with value: [UInt8]??) -> Bool {
        switch (self, value) {
        case (nil, nil), (.tombstone, .some(nil)): true
        case (.receipt(let receipt), .some(let bytes?)): receipt == bytes
        case (.attestation(let object), .some(let bytes?)): !bytes.isEmpty && object.contains(bytes)
        default: false
        }
    }
}

extension FleetCheck {
    /// The ledger has the metric of each key's newest accepted receipt, and the topic its last one, or a tombstone.
    mutating func checkReceipts() throws {
        guard fleet.plan.delivery == .exactlyOnce else { return checkReceiptsAgainstCalm() }
        for partition in fleet.broker.partitions where !isLoose(partition) {
            let books = try books(of: partition)
            if reading.events[partition] ?? [] != books.events {
                complaints.append("partition \(partition) has other events than accepted receipts")
            }
            let (metrics, receipts) = (metrics(reading, partition), reading.receipts[partition] ?? [:])
            for key in Set(metrics.keys).union(books.metrics.keys) where metrics[key] != books.metrics[key] {
                complaints.append(
                    "the ledger has \(Self.text(metrics[key])), the results \(Self.text(books.metrics[key]))"
                )
            }
            for key in Set(receipts.keys).union(books.newest.keys)
            where !books.newest[key].agrees(with: receipts[key]) {
                complaints.append("the newest receipt of \(String(decoding: key, as: UTF8.self)) is another one")
            }
        }
    }

    private func books(of partition: Int32) throws -> ReceiptBooks {
        var books = ReceiptBooks()
        for output in reading.outputs[partition] ?? [] where output.stream == .results {
            guard let request = fleet.broker.sent[partition]?.first(where: { $0.offset == output.sourceOffset }) else {
                continue
            }
            try books.add(ReadResult(output), of: request)
        }
        return books
    }

    /// At least once answers may come again; what they leave is the calm run's but for the keys that nothing is
    /// promised of.
    private mutating func checkReceiptsAgainstCalm() {
        for partition in fleet.broker.partitions where !isLoose(partition) {
            let isPromised = { [early] (key: [UInt8]) in !early.contains(String(decoding: key, as: UTF8.self)) }
            let (metrics, expected) = (metrics(reading, partition), metrics(calm, partition))
            if metrics.filter({ isPromised($0.key) }) != expected.filter({ isPromised($0.key) }) {
                complaints.append("metrics of \(partition) are not those of a calm run")
            }
            let (receipts, last) = (reading.receipts[partition] ?? [:], calm.receipts[partition] ?? [:])
            for key in Set(receipts.keys).union(last.keys) where isPromised(key) && receipts[key] != last[key] {
                complaints.append("the newest receipt of \(String(decoding: key, as: UTF8.self)) is not the calm run's")
            }
            let missing = Set(calm.events[partition] ?? []).subtracting(reading.events[partition] ?? [])
            let excused = (fleet.broker.sent[partition] ?? []).filter { !isPromised($0.key ?? []) }.map(\.offset)
            if !missing.isSubset(of: excused) {
                complaints.append("accepted receipts of \(partition) have no event: \(missing.sorted())")
            }
        }
    }

    private func metrics(_ reading: FleetReading, _ partition: Int32) -> [[UInt8]: RiskMetric] {
        var metrics: [[UInt8]: RiskMetric] = [:]
        reading.restored[partition]?.keys.forEach { id, record in metrics[id.recordKey] = record.risk }
        return metrics
    }

    private static func text(_ metric: RiskMetric?) -> String {
        metric.map { "metric \($0.value) of \($0.createdAt)" } ?? "no metric"
    }
}
