internal import AppAttest
internal import AppCheck
internal import HTTP
package import Kafka
internal import Pipeline

extension Gateway {
    /// Records of the results topic.
    package func note(results records: [TopicRecord]) {
        note(records) { state, record, id, ticket in
            guard let call = state.waiting[ticket] else { return nil }
            let isAccepted = Self.header("status", of: record)?.elementsEqual("200".utf8) ?? false
            guard isAccepted, call.answer == .token else {
                return ResultReading.reply(record.value ?? [], call.answer, id: id)
            }
            state.waiting[ticket]?.isAccepted = true
            return state.waiting[ticket]?.reply()
        }
    }

    /// Records of the tokens topic.
    package func note(tokens records: [TopicRecord]) {
        note(records) { state, record, _, ticket in
            guard let value = record.value, state.waiting[ticket]?.answer == .token else { return nil }
            state.waiting[ticket]?.token = value
            return state.waiting[ticket]?.reply()
        }
    }

    /// Records of this gateway's partition of the replies topic: whole answers.
    package func note(replies records: [TopicRecord]) {
        note(records, isPlaced: false) { _, record, id, _ in
            guard let text = Self.header("status", of: record), let code = Int(String(decoding: text, as: UTF8.self)),
                HTTPReply.statuses.contains(code), let value = record.value
            else { return nil }
            var reply = GatewayReply.answer(code, value, id: id)
            if code == 503 { reply.headers.append(("Retry-After", "1")) }
            return reply
        }
    }

    /// - Parameters:
    ///   - isPlaced: whether an answer lies on its request's partition.
    ///   - body: the reply that a record completes, under the lock.
    private func note(
        _ records: [TopicRecord],
        isPlaced: Bool = true,
        _ body: (inout State, TopicRecord, [UInt8], WaitingCalls.Ticket) -> HTTPReply?
    ) {
        let now = world.wallClock()
        var due: [WaitingCalls.Due] = []
        state.withLock { state in
            for record in records {
                guard let id = Self.header("request-id", of: record), state.waiting.isAwaited(id) else {
                    state.counts.foreignReplies += 1
                    state.clock.note(foreign: record.timestamp, now: now)
                    continue
                }
                for ticket in state.waiting.awaiting(id, record.key, isPlaced ? record.partition : nil) {
                    if let call = state.waiting[ticket] {
                        state.clock.note(record.timestamp, producedAt: call.producedAt, now: now)
                    }
                    guard let reply = body(&state, record, id, ticket), let call = state.waiting.remove(ticket)
                    else { continue }
                    due.append(WaitingCalls.Due(call: call, reply: reply))
                }
            }
        }
        for item in due { finish(item.call, item.reply) }
    }

    /// The last header of this name.
    private static func header(_ name: String, of record: TopicRecord) -> [UInt8]? {
        record.headers?.last { $0.name.elementsEqual(name.utf8) }?.value
    }
}
