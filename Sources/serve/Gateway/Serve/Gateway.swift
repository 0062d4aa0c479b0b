internal import AppAttest
internal import AppCheck
internal import HTTP
internal import Pipeline
internal import Settings
internal import Streams
internal import Threads

/// REST in front of the topics: calls become requests, and answers on the topics become replies.
///
/// Calls come on the server's thread, answers on the readers'. The state is behind one lock; replies are sent outside.
package final class Gateway: Sendable {
    /// The functions that the gateway needs of the shell.
    package struct Dependencies: Sendable {
        /// Milliseconds since 1970.
        package var wallClock: @Sendable () -> Int64
        /// Milliseconds of a clock that never goes back.
        package var uptime: @Sendable () -> Int64
        /// Random bytes that no caller can predict.
        package var randomBytes: @Sendable (Int) -> [UInt8]

        package init(
            wallClock: @escaping @Sendable () -> Int64,
            uptime: @escaping @Sendable () -> Int64,
            randomBytes: @escaping @Sendable (Int) -> [UInt8]
        ) {
            (self.wallClock, self.uptime, self.randomBytes) = (wallClock, uptime, randomBytes)
        }
    }

    struct State {
        var rules: GatewayRules
        var waiting: WaitingCalls
        var counts = GatewayCounts()
        var clock = BrokerClocks()
        var produced = ProduceWatch()
        /// Whether new requests are taken.
        var isOpen = false
        /// The reason, known to the shell, why the gateway is not ready.
        var hindrance: String?
        var events = EventGate()
        var debug = DebugGate()
        /// Apps that are not listed, and signing keys that are not in the key set.
        var unknownApps = NameTally()
        var unknownKeys = NameTally()
        /// The second in which a token that was passed on was last looked at.
        var watchedSecond: Int64?
        /// The uptime since which workers have answered nothing on the replies topic.
        var silentSince: Int64?
        var addresses: RateGate
        var apiKeys: RateGate
    }

    let topics: GatewayTopics
    let dependencies: Dependencies
    let ids: RequestIDs
    let state: Locked<State>
    let outlet: any RequestOutlet
    private static let seedBytes = 16

    /// - Parameter outlet: takes the records; ``note(_:)`` must be called with what became of them.
    package init(_ rules: GatewayRules, topics: GatewayTopics, dependencies: Dependencies, outlet: any RequestOutlet) {
        (self.topics, self.dependencies, self.outlet) = (topics, dependencies, outlet)
        ids = RequestIDs(randomBytes: dependencies.randomBytes)
        let settings = rules.settings
        state = Locked(
            State(
                rules: rules,
                waiting: WaitingCalls(settings),
                addresses: RateGate(limit: settings.callsPerAddress, seed: dependencies.randomBytes(Self.seedBytes)),
                apiKeys: RateGate(limit: settings.callsPerAPIKey, seed: dependencies.randomBytes(Self.seedBytes))
            )
        )
    }

    // MARK: The shell's calls

    /// Uses other rules from the next call on.
    package func replace(_ rules: GatewayRules) { state.withLock { $0.rules = rules } }

    /// Takes requests from now on: the readers stand at the ends of their topics.
    package func open() { state.withLock { $0.isOpen = true } }

    /// Replies 504 to expired calls. Call it a few times a second.
    package func poll() {
        let now = dependencies.uptime()
        let reading = reading
        let expired = state.withLock { state in
            state.clock.poll(reading, most: state.rules.clockTolerance)
            state.produced.poll(at: now)
            let expired = state.waiting.expire(at: now)
            state.counts.deadlines += expired.count
            state.counts.unanswered += expired.count(where: \.isWritten)
            pollReplies(&state, at: now)
            return expired
        }
        for call in expired { finish(call, GatewayReply.error(.deadline, id: call.id)) }
    }

    /// Answers every call that still waits: the outcome is open.
    package func close() {
        let rest = state.withLock { state in
            state.isOpen = false
            defer { assert(state.waiting.count == 0 && state.waiting.byteCount == 0) }
            return state.waiting.removeAll()
        }
        for call in rest { finish(call, GatewayReply.error(.deadline, id: call.id)) }
    }

    /// What calls bring that the files here do not have, where a minute has passed since the last account.
    package func takeUnknown() -> (app: NamedCalls?, key: NamedCalls?) {
        let now = dependencies.uptime()
        return state.withLock { ($0.unknownApps.account(at: now), $0.unknownKeys.account(at: now)) }
    }

    package var counts: GatewayCounts {
        state.withLock { state in
            var counts = state.counts
            (counts.waiting, counts.waitingBytes) = (state.waiting.count, state.waiting.byteCount)
            (counts.clockOffset, counts.strayBrokers) = (state.clock.offset(reading), state.clock.strays(reading))
            return counts
        }
    }

    // MARK: Replies

    /// Counts and sends the reply to a call that waited.
    func finish(_ call: WaitingCall, _ reply: HTTPReply) {
        finish(call.verb, call.translate?(reply) ?? reply, since: call.since, call.responder)
    }

    /// Counts and sends a reply.
    func finish(_ verb: GatewayVerb, _ reply: HTTPReply, since: Int64, _ responder: any HTTPResponder) {
        let duration = max(0, dependencies.uptime() - since)
        state.withLock { $0.counts.note(verb, reply.status, milliseconds: duration) }
        responder.answer(reply)
    }

    /// An event of a call that leaves no request.
    func event(_ name: String, of app: RegisteredApp, _ verb: Verb, _ reason: Reason, _ id: [UInt8]) -> ExchangeEvent {
        ExchangeEvent(name: name, app: app.name, verb: verb, reason: reason, requestID: id, time: now)
    }

    /// An event goes to any partition: no order is promised among them.
    func produce(event value: [UInt8]) {
        guard let topic = topics.names.outputs[.events] else { return }
        let second = dependencies.uptime() / 1000
        let partition = state.withLock { state -> Int32? in
            let partition = state.events.partition(in: second, of: topics.partitions)
            if partition == nil { state.counts.droppedEvents += 1 }
            return partition
        }
        guard let partition else { return }
        outlet.write(
            OutboundRequest(topic: topic, partition: partition, key: nil, value: value, headers: [], ticket: nil)
        )
    }

    /// The current time, for issuing challenges and verifying tokens.
    var now: EvaluationTime { EvaluationTime(milliseconds: dependencies.wallClock()) }
}
