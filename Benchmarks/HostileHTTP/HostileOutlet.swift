internal import Foundation
internal import Gateway
internal import JSON
internal import Kafka
internal import KafkaPorts
internal import Pipeline
internal import Settings
internal import Streams
internal import Threads

/// Stands for broker and worker: looks at each record, and answers on a thread of its own, in one of the ways there are,
/// or never.
final class HostileOutlet: RequestOutlet {
    private struct State {
        var gateway: Gateway?
        var uptime: Int64 = 0
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "answers")
    private let isStepped: Bool

    init(isStepped: Bool) { self.isStepped = isStepped }

    func serve(_ gateway: Gateway?) { state.withLock { $0.gateway = gateway } }

    /// Milliseconds that never go back.
    var uptime: Int64 {
        isStepped ? state.withLock { $0.uptime } : Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000)
    }

    func write(_ record: OutboundRequest) {
        Self.check(record)
        guard let ticket = record.ticket else { return }
        guard !isStepped else { return queue.async { self.answer(record, ticket) } }
        let pause = DispatchTime.now() + .milliseconds(Int(ticket % 5))
        DispatchQueue.global().asyncAfter(deadline: pause) { self.answer(record, ticket) }
    }

    /// A record's value holds the path and the body as they came, whatever stands in them.
    private static func check(_ record: OutboundRequest) {
        let root = try? JSONDocument(parsing: record.value).root
        insist(root != nil, "a record is JSON")
        guard record.topic == HostileRules.topics.names.requests else { return }
        let names = root?.members.map { String(decoding: $0.name, as: UTF8.self) } ?? []
        insist(names == ["path", "body"] || names == ["path"], "a record has a path and a body")
        let ids = record.headers.filter { $0.name.elementsEqual("request-id".utf8) }.compactMap(\.value)
        insist(ids.count == 1 && (1...128).contains(ids[0].count), "a request has one id")
        insist(ids[0].allSatisfy { (0x21...0x7E).contains($0) }, "an id is visible")
        insist((0..<HostileRules.partitions).contains(record.partition), "a record has its partition")
    }

    private func answer(_ record: OutboundRequest, _ ticket: UInt) {
        guard let gateway = state.withLock({ $0.gateway }) else { return }
        switch record.value.count % 5 {
        case 0: gateway.note([DeliveryReport(ticket: ticket, outcome: .notWritten)])
        case 1: gateway.note(results: [Self.result(of: record, 403, "PERMISSION_DENIED")])
        case 2:
            gateway.note(tokens: [Self.reply(to: record, #"{"token":"t"}"#, nil)])
            gateway.note(results: [Self.result(of: record, 200, "OK")])
        case 3: gateway.note(replies: [Self.reply(to: record, #"{"token":"t"}"#, 200)])
        default: break
        }
        guard isStepped else { return }
        // Whatever got no answer has its deadline behind it now.
        state.withLock { $0.uptime += 60_000 }
        gateway.poll()
    }

    private static func result(of record: OutboundRequest, _ code: Int, _ name: String) -> TopicRecord {
        reply(to: record, #"{"status":{"code":\#(code),"status":"\#(name)","message":"m"}}"#, code)
    }

    private static func reply(to record: OutboundRequest, _ value: String, _ status: Int?) -> TopicRecord {
        var headers = record.headers.filter { $0.name.elementsEqual("request-id".utf8) }
        if let status { headers.append(RecordHeader("status", "\(status)")) }
        return TopicRecord(
            partition: record.partition,
            offset: 0,
            key: record.key,
            value: Array(value.utf8),
            timestamp: HostileRules.now,
            headers: headers
        )
    }
}
