internal import AppAttest
package import Gateway
internal import Settings

/// Log lines of a running gateway: changes of its readiness, and workers that lag behind its files.
package struct GatewayReporter {
    /// The topic of replies; nil = the gateway reads results and tokens.
    let replies: String?
    private var said: String?
    private var workerBehind = 0
    private var unanswered = 0
    private var strays: Set<Int32> = []

    package init(replies: String?) { self.replies = replies }

    /// - Parameter unfitness: why the gateway is not ready; nil = it is.
    package mutating func poll(
        _ unfitness: String?,
        _ counts: GatewayCounts,
        unknown: (app: NamedCalls?, key: NamedCalls?) = (nil, nil)
    ) -> [LogEvent] {
        var events: [LogEvent] = []
        // The kind of a fault counts: seconds and connection errors in it change.
        if let unfitness, said.map(Self.kind) != Self.kind(unfitness) {
            let sentence = unfitness.hasSuffix(".") ? String(unfitness.dropLast()) : unfitness
            events.append(LogEvent(.error, .gatewayNotReady, "\(sentence); calls get 503"))
        }
        if unfitness == nil, said != nil { events.append(LogEvent(.info, .gatewayReady, "the gateway is ready again")) }
        said = unfitness
        if counts.workerBehind > workerBehind {
            let sentence =
                "a worker does not know an app, a verb or a signing key that this gateway knows, or refuses what its apps.json "
                + "accepts, and the calls get 503: give workers the same apps.json, signing keys and version"
            events.append(LogEvent(.warning, .gatewayContradicted, sentence))
        }
        workerBehind = counts.workerBehind
        events += pollClocks(counts.strayBrokers)
        if let calls = unknown.app {
            let count = calls.count.counted("call", "gets", "get")
            let sentence =
                "\(count) 503, since apps.json does not list the app, most of them for \(Self.shown(calls.name)): list it, "
                + "with its project's number and id, or name it under retired"
            events.append(LogEvent(.warning, .gatewayUnknownApp, sentence))
        }
        if let calls = unknown.key {
            let sentence =
                "tokens are signed by \(Self.shown(calls.name)), which the file of gateway.publicKeys does not have: those who "
                + "verify by it refuse them; write it again with attest-worker jwks"
            events.append(LogEvent(.error, .gatewayUnknownKey, sentence))
        }
        if counts.unanswered < Gateway.mostUnanswered { unanswered = 0 }
        // Each line is for twice as many as the one before: a fleet without workers counts hundreds a second.
        if counts.unanswered >= max(Gateway.mostUnanswered, 2 * unanswered) {
            events.append(LogEvent(.error, .gatewayUnanswered, unanswered(counts.unanswered)))
            unanswered = counts.unanswered
        }
        return events
    }

    /// A broker whose clock is off is not this machine's fault, and does not keep it from serving.
    private mutating func pollClocks(_ offsets: [Int32: Int64]) -> [LogEvent] {
        defer { strays = Set(offsets.keys) }
        let over = strays.subtracting(offsets.keys).sorted().map { broker in
            LogEvent(.info, .brokerClock, "the clock of broker \(broker) agrees again")
        }
        return over
            + offsets.sorted { $0.key < $1.key }.filter { !strays.contains($0.key) }.map { broker, offset in
                let (seconds, side) = (abs(offset) / 1000, offset > 0 ? "ahead of" : "behind")
                return LogEvent(
                    .error,
                    .brokerClock,
                    "the clock of broker \(broker) is \(seconds) s \(side) this machine's, with which other brokers agree: "
                        + "challenges and tokens in partitions that it leads are judged by it; set that broker's clock"
                )
            }
    }

    private func unanswered(_ count: Int) -> String {
        let begin = "\(count) calls in a row were written and got no answer"
        guard let replies else { return "\(begin): see whether workers run and read these partitions" }
        return "\(begin) on \(replies): see whether workers run, and whether topics.replies of their worker.json is "
            + "\(replies), which they read at their start"
    }

    private static let mostShown = 120

    /// A name that anybody may have sent.
    private static func shown(_ name: ExactText) -> String { String(name.shown.prefix(mostShown)).printable }

    private static func kind(_ sentence: String) -> String {
        String(sentence.prefix { $0 != ":" }.filter { !$0.isNumber })
    }
}
