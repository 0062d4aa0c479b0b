internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import TestKit

/// A key's attestations, and what Apple answers to the exchange of their receipts: newer and older ones, of either
/// attestation, some of them the second child of one receipt.
struct ReceiptChain {
    /// Seconds before the requests' time.
    private static let attestedAgo: [Int64] = [300, 250, 200]
    /// The attestation whose receipt it is, and the answer that it was exchanged for; nil = the request does not say.
    private static let exchanges: [(attestation: Int, exchanged: Int?)] = [
        (0, nil), (0, 0), (1, nil), (0, 2), (1, 1), (2, nil), (1, 3), (2, 5),
    ]

    /// Requests `verifyAttestation`, in the order of their issue.
    let attestations: [[UInt8]]
    /// Requests `verifyReceipt`, in the order of their receipts' creation; the last one's receipt has no metric.
    let answers: [[UInt8]]

    init(of device: FakeDevice) {
        let times = Self.attestedAgo.map { Self.time(-$0) }
        let hashes = Self.attestedAgo.map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 32) }
        attestations = zip(times, hashes).map { time, hash in
            ExchangeRequest.verifyAttestation(of: device, hash: hash, at: time.milliseconds, resource: ExchangeKit.name)
                .value
        }
        let created = Self.exchanges.indices.map { Self.time(Int64(10 * $0) - 150) }
        let sent = zip(times, hashes).map { device.receipt(.attest, clientDataHash: $1, at: $0) }
        answers = Self.exchanges.enumerated().compactMap { index, exchange in
            guard let content = ReceiptContent(unverified: sent[exchange.attestation]) else { return nil }
            var facts = ReceiptFacts(
                refreshing: content,
                environment: device.environment,
                metric: 1 + index,
                at: created[index]
            )
            if index == created.count - 1 { facts.riskMetric = nil }
            let exchanged = exchange.exchanged.map { String(created[$0].milliseconds) }
            return ExchangeRequest.receipt(
                device.ca.receipt(facts),
                of: device,
                exchanged: exchanged,
                resource: String(RequestRecords.path.dropFirst(3))
            ).value
        }
        precondition(answers.count == created.count, "the lab's receipts can be read")
    }

    private static func time(_ seconds: Int64) -> EvaluationTime {
        EvaluationTime(milliseconds: RequestRecords.time + seconds * 1_000)
    }
}
