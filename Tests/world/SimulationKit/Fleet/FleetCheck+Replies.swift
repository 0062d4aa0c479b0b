internal import Streams

extension FleetCheck {
    /// What a reply must agree with: its request and the status of the result. A record key says the source's partition.
    private struct Reply: Hashable {
        let key: [UInt8]
        let offset: Int64
        let partition: Int32
        let status: Int?
    }

    /// Where replies and results disagree: each result whose request has a usable `reply-to` has a reply with its status,
    /// and with exactly once only one. At least once an answer may come again, and another one.
    static func replyComplaints(_ fleet: SimulatedFleet, _ results: [OutboundRecord], partitions: Int32) -> [String] {
        let isExact = fleet.plan.delivery == .exactlyOnce
        var wanted: [Reply: Int] = [:]
        var excused: Set<Reply> = []
        for result in results {
            let request = fleet.broker.sent[result.partition]?.first { $0.offset == result.sourceOffset }
            guard let partition = replyPartition(request, of: partitions) else { continue }
            wanted[reply(result, on: partition, isExact), default: 0] += 1
        }
        for request in isExact ? [] : Array(fleet.broker.sent.values.joined()) {
            // What was not repeated in time is gone, and a held partition repeats nothing.
            let place = RecordPlace(partition: request.partition, offset: request.offset)
            guard fleet.broker.isGone(place) || fleet.held.contains(place.partition),
                let partition = replyPartition(request, of: partitions)
            else { continue }
            excused.insert(Reply(key: request.key ?? [], offset: request.offset, partition: partition, status: nil))
        }
        var found: [Reply: Int] = [:]
        for output in fleet.broker.visibleReplies {
            found[reply(output, on: output.partition, isExact), default: 0] += 1
        }
        return Set(wanted.keys).union(found.keys).sorted { $0.offset < $1.offset }.compactMap { reply in
            let (expected, actual) = (wanted[reply] ?? 0, found[reply] ?? 0)
            guard isExact ? expected != actual : (expected == 0) != (actual == 0) && !excused.contains(reply) else {
                return nil
            }
            return
                "\(actual) replies with \(reply.status ?? 0) to \(reply.offset) on \(reply.partition), not \(expected)"
        }
    }

    /// The partition that a request wants its reply on; nil for a request without a usable `reply-to`.
    private static func replyPartition(_ request: InboundRecord?, of partitions: Int32) -> Int32? {
        let text = request?.headers.last { $0.name.elementsEqual("reply-to".utf8) }?.value
        guard let text, let partition = Int32(String(decoding: text, as: UTF8.self)) else { return nil }
        return partition < partitions ? partition : nil
    }

    private static func reply(_ record: OutboundRecord, on partition: Int32, _ isExact: Bool) -> Reply {
        Reply(
            key: record.key ?? [],
            offset: record.sourceOffset,
            partition: partition,
            status: isExact ? record.status : nil
        )
    }
}
