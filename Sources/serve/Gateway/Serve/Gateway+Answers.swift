internal import AppAttest
internal import AppCheck
internal import HTTP
internal import JSON
package import KafkaPorts
internal import Pipeline
internal import Streams
internal import Threads

extension Gateway {
    /// Records of the results topic.
    package func note(results records: [TopicRecord]) {
        note(records) { state, record, _, ticket in
            guard let call = state.waiting[ticket] else { return nil }
            let isAccepted = Self.header("status", of: record)?.elementsEqual("200".utf8) ?? false
            guard isAccepted, call.answer == .token else { return call.reply(to: record.value ?? []) }
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
            return GatewayReply.answer(code, value, id: id)
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
        let now = reading
        var due: [(call: WaitingCall, reply: HTTPReply)] = []
        var refused: [Int: TopicRecord] = [:]
        state.withLock { state in
            // On a partition of the replies topic others' answers count too: workers write there.
            if !isPlaced, !records.isEmpty { state.counts.unanswered = 0 }
            for record in records {
                guard let id = Self.header("request-id", of: record), state.waiting.isAwaited(id) else {
                    state.counts.foreignReplies += 1
                    continue
                }
                state.counts.unanswered = 0
                for ticket in state.waiting.awaiting(id, record.key, isPlaced ? record.partition : nil) {
                    guard let reply = body(&state, record, id, ticket), let call = state.waiting.remove(ticket)
                    else { continue }
                    let answer = settled(reply, call, now, &state)
                    if answer.status == 403 { refused[due.count] = record }
                    due.append((call, answer))
                }
            }
        }
        for (index, item) in due.enumerated() {
            let isContradicted = refused[index].map { self.isContradicted($0, item.call) } ?? false
            if item.reply.status == 200, item.call.answer == .token { watchKey(item.reply) }
            finish(item.call, isContradicted ? GatewayReply.error(.unavailable, id: item.call.id) : item.reply)
        }
    }

    /// Whether a worker's 403 is against the apps.json or the clock here: the device would drop its key for a file that is on
    /// its way, or for the time of a broker that is off.
    private func isContradicted(_ record: TopicRecord, _ call: WaitingCall) -> Bool {
        let text = Self.header("reason", of: record).map { String(decoding: $0, as: UTF8.self) }
        guard let reason = text ?? (try? JSONDocument(parsing: record.value ?? []).root)?["reason"]?.string
        else { return false }
        let rules = state.withLock { $0.rules }
        if reason == Reason.challengeExpired.code { return isYoung(call.value, rules) }
        guard rules.accepts(call.value, refusedFor: reason, at: now) else { return false }
        state.withLock { $0.counts.workerBehind += 1 }
        return true
    }

    /// Whether a request's challenge lives by this clock.
    private func isYoung(_ value: [UInt8], _ rules: GatewayRules) -> Bool {
        guard case .request(let request) = rules.decoder.decode(value), let exchange = request.exchange,
            let issuedAt = UnverifiedChallenge(exchange.challenge)?.issuedAt.milliseconds
        else { return false }
        return now.milliseconds - issuedAt < rules.challengeTTL
    }

    /// Looks at one token in a second that is passed on: all of a key that the key set lacks are refused by it.
    private func watchKey(_ reply: HTTPReply) {
        let second = dependencies.uptime() / 1000
        let rules = state.withLock { state in
            defer { state.watchedSecond = second }
            return state.watchedSecond == second ? nil : state.rules
        }
        guard let rules, rules.tokens != nil, let root = try? JSONDocument(parsing: reply.body).root,
            let token = root["token"] ?? root["appCheckToken"]?["token"]
        else { return }
        noteKey(of: token.stringBytes ?? [], rules)
    }

    func noteKey(of token: [UInt8], _ rules: GatewayRules) {
        guard let kid = rules.unknownKey(of: token, at: now) else { return }
        state.withLock { $0.unknownKeys.note(kid) }
    }

    /// A worker's reply, or 503 where it would cost a healthy device its key or a day, and the device is not to blame.
    private func settled(
        _ reply: HTTPReply,
        _ call: WaitingCall,
        _ now: BrokerClocks.Reading,
        _ state: inout State
    ) -> HTTPReply {
        switch reply.status {
        case 400, 404:
            // Judged right here: the worker's files or version are older than this gateway's.
            state.counts.workerBehind += 1
        case 403:
            // Challenges of a clock that is off are refused.
            guard state.clock.doubt(now, most: state.rules.clockTolerance) != nil else { return reply }
        default: return reply
        }
        return GatewayReply.error(.unavailable, id: call.id)
    }

    /// The last header of this name.
    private static func header(_ name: String, of record: TopicRecord) -> [UInt8]? {
        record.headers?.last { $0.name.elementsEqual(name.utf8) }?.value
    }
}
