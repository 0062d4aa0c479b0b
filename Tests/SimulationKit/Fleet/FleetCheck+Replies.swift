internal import Log

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
            let text = request?.headers.last { $0.name.elementsEqual("reply-to".utf8) }?.value
            guard let text, let partition = Int32(String(decoding: text, as: UTF8.self)), partition < partitions
            else { continue }
            let reply = reply(result, on: partition, isExact)
            wanted[reply, default: 0] += 1
            // What was not repeated in time is gone, and a held partition repeats nothing.
            let place = RecordPlace(partition: result.partition, offset: result.sourceOffset)
            if !isExact, fleet.broker.isGone(place) || fleet.held.contains(place.partition) { excused.insert(reply) }
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

    private static func reply(_ record: OutboundRecord, on partition: Int32, _ isExact: Bool) -> Reply {
        Reply(
            key: record.key ?? [],
            offset: record.sourceOffset,
            partition: partition,
            status: isExact ? record.status : nil
        )
    }
}
