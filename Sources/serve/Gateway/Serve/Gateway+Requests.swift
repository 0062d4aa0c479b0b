internal import AppAttest
internal import AppCheck
internal import HTTP
internal import JSON
package import Kafka
internal import Pipeline
internal import Settings
internal import Streams
internal import Threads

extension Gateway {
    /// Produces a request and lets its call wait.
    func submit(_ request: Request, _ value: [UInt8], _ call: IncomingCall) {
        let id = ids.id(of: call.http, from: call.caller, isVerifiers: request.verb.isVerifiers)
        guard let id else { return reject(.request, .badRequest, call) }
        // A request without a key may lie on any partition.
        submit(value, id: id, key: request.requiredRecordKey ?? ids.fresh(), request.verb.answer, call)
    }

    /// - Parameter translate: makes the reply of another one: `/v1/verify` answers in its own way.
    func submit(
        _ value: [UInt8],
        id: [UInt8],
        key: [UInt8],
        _ answer: Verb.Answer,
        _ call: IncomingCall,
        translate: (@Sendable (HTTPReply) -> HTTPReply)? = nil
    ) {
        guard isFit(for: .topics, call) else { return }
        let partition = topics.partition(of: key)
        let deadline = call.since + call.rules.settings.deadlineMilliseconds
        let place = state.withLock { state -> (ticket: UInt, id: [UInt8])? in
            guard state.isOpen, state.waiting.hasRoom(for: value.count) else { return nil }
            // An id that names another request already must not cross their answers.
            let own = state.waiting.holds(id, otherThan: value) ? ids.fresh() : id
            let pending = WaitingCall(
                id: own,
                key: key,
                partition: partition,
                answer: answer,
                value: value,
                responder: call.responder,
                translate: translate,
                since: call.since,
                deadline: deadline,
                verb: call.verb
            )
            let ticket = state.waiting.add(pending)
            state.produced.noteProduced(ticket, at: dependencies.uptime())
            return (ticket, own)
        }
        guard let place else { return reject(.waiting, .unavailable, call) }
        outlet.write(
            OutboundRequest(
                topic: topics.names.requests,
                partition: partition,
                key: key,
                value: value,
                headers: headers(call, id: place.id),
                ticket: place.ticket
            )
        )
    }

    private func headers(_ call: IncomingCall, id: [UInt8]) -> [RecordHeader] {
        var headers = [RecordHeader(name: Array("request-id".utf8), value: id)]
        if let partition = topics.replyTo { headers.append(RecordHeader("reply-to", String(partition))) }
        if let installation = call.installationID {
            headers.append(RecordHeader(name: Array("installation-id".utf8), value: installation.utf8))
        }
        guard call.caller.isTrustedProxy else { return headers }
        // W3C Trace Context: names as the worker copies them.
        for name in ["traceparent", "tracestate"] {
            guard let value = call.http.values(name).last, value.count <= 512 else { continue }
            headers.append(RecordHeader(name: Array(name.utf8), value: value))
        }
        return headers
    }

    /// Handles delivery reports: a call whose record was not written gets 503 and may be sent again.
    package func note(_ reports: [DeliveryReport]) {
        var failed: [WaitingCall] = []
        let now = reading
        state.withLock { state in
            for report in reports {
                assert(report.ticket != 0, "zero asks for no report")
                state.produced.noteFate(report.ticket, isWritten: report.outcome == .written, at: now.uptime)
                if let timestamp = report.timestamp, let call = state.waiting[report.ticket] {
                    state.clock.note(timestamp, of: report.broker ?? -1, since: call.since, now)
                }
                switch report.outcome {
                case .written: state.waiting[report.ticket]?.isWritten = true
                case .unknown: state.counts.maybeProduced += 1
                case .notWritten:
                    state.counts.notProduced += 1
                    if let call = state.waiting.remove(report.ticket) { failed.append(call) }
                }
            }
        }
        for call in failed { finish(call, GatewayReply.error(.unavailable, id: call.id)) }
    }
}
