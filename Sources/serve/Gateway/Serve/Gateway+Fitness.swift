internal import AppAttest
internal import AppCheck
internal import Pipeline
internal import Settings
internal import Threads

/// The conditions that a call needs in addition to its rules.
enum Need {
    case clock
    /// The brokers and topics, too.
    case topics
    /// All of these and a key, for a challenge that a worker will judge.
    case challengeKey
}

extension GatewayRules {
    /// How far this machine's clock may be off, in milliseconds: challenges are made by it, and one that is as old as the
    /// clocks differ must not have expired.
    var clockTolerance: Int64 { min(BrokerClocks.most, challengeTTL / 4) }
}

extension Gateway {
    /// Takes the sentence that says why no calls should come: brokers that are away, topics that have changed.
    package func note(hindrance: String?) { state.withLock { $0.hindrance = hindrance } }

    /// Why this gateway should get no calls, in a sentence; nil = it is fit.
    package var unfitness: String? {
        let now = reading
        let (hindrance, unacknowledgedSince, clock, rules, unanswered) = state.withLock { state in
            (
                state.hindrance, state.produced.silentSince, state.clock, state.rules,
                state.silentSince.map { _ in state.counts.unanswered }
            )
        }
        if rules.registry.isEmpty { return Self.noApp }
        if let hindrance { return hindrance }
        if let since = unacknowledgedSince { return unacknowledged(for: now.uptime - since) }
        if let doubt = clock.doubt(now, most: rules.clockTolerance) {
            return Self.sentence(clockDoubt: doubt, clock.offsets(now), now)
        }
        if let unanswered {
            return "\(unanswered) calls in a row got no answer on \(topics.names.replies ?? "the replies topic")"
        }
        return rules.challengeKey == nil
            ? "worker.json lists no challenge key: add one with attest-worker new-keys --add" : nil
    }

    private static let noApp = "apps.json lists no app: give this gateway the apps.json of its workers"

    /// Calls in a row without an answer that are not chance.
    package static let mostUnanswered = 3

    /// Where workers write no replies, calls are kept away: each device would ask Apple first. After a minute the next ones
    /// measure again; an answer on the topic ends it at once.
    func pollReplies(_ state: inout State, at now: Int64) {
        guard topics.replyTo != nil, state.counts.unanswered >= Self.mostUnanswered else {
            return state.silentSince = nil
        }
        let since = state.silentSince ?? now
        state.silentSince = since
        guard now - since >= BrokerClocks.doubtMilliseconds else { return }
        (state.counts.unanswered, state.silentSince) = (Self.mostUnanswered - 1, nil)
    }

    /// Answers a call with 503 where something is missing that it needs: its answer would be wrong, or late.
    func isFit(for need: Need, _ call: IncomingCall) -> Bool {
        let isFit = state.withLock { state in
            let most = need == .challengeKey ? call.rules.clockTolerance : BrokerClocks.most
            guard state.clock.doubt(reading, most: most) == nil, !call.rules.registry.isEmpty else { return false }
            guard need != .clock else { return true }
            return state.isOpen && state.hindrance == nil && state.silentSince == nil
                && state.produced.silentSince == nil
                && (need == .topics || call.rules.challengeKey != nil)
        }
        if !isFit { reject(.notReady, .unavailable, call) }
        return isFit
    }

    /// This machine's clocks.
    var reading: BrokerClocks.Reading {
        BrokerClocks.Reading(wall: dependencies.wallClock(), uptime: dependencies.uptime())
    }

    /// The time of challenges: this machine's, or the brokers' where that one is too far behind.
    func challengeTime(_ rules: GatewayRules) -> EvaluationTime {
        let reading = reading
        let correction = state.withLock { $0.clock.correction(reading, most: rules.clockTolerance) }
        return EvaluationTime(milliseconds: reading.wall + correction)
    }

    private static func sentence(
        clockDoubt offset: Int64,
        _ offsets: [Int32: Int64],
        _ now: BrokerClocks.Reading
    ) -> String {
        let (seconds, side) = (abs(offset) / 1000, offset > 0 ? "behind" : "ahead of")
        let brokers = offsets.sorted { $0.key < $1.key }.prefix(3).map { broker, offset in
            "broker \(broker) says \(text(now.wall + offset))"
        }
        return "this machine's clock is \(seconds) s \(side) the brokers: set it right (it says \(text(now.wall)), "
            + brokers.joined(separator: ", ") + ")"
    }

    private static func text(_ milliseconds: Int64) -> String {
        String(decoding: EvaluationTime(milliseconds: milliseconds).rfc3339, as: UTF8.self)
    }

    private func unacknowledged(for milliseconds: Int64) -> String {
        "no broker has acknowledged a request for \(milliseconds / 1000) s: see which brokers are away, and "
            + "min.insync.replicas of \(topics.names.requests)"
    }
}
