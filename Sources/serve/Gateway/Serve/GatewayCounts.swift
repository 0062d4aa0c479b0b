package import Pipeline

/// The counts of a gateway since its start.
package struct GatewayCounts: Sendable {
    package struct Answer: Hashable, Sendable {
        package let verb: GatewayVerb
        package let code: Int
    }

    /// Why a call was answered without a request on a topic.
    package enum Rejection: String, Sendable, CaseIterable {
        case path, method, body, request, app, apiKey = "api-key", bundle, credentials, rollout, waiting, producer
        case notReady = "not-ready"
        case debugToken = "debug-token"
        case debugRate = "debug-rate"
        case addressRate = "address-rate"
        case apiKeyRate = "api-key-rate"
    }

    package internal(set) var answers: [Answer: Int] = [:]
    /// Milliseconds from a call's arrival to its answer, by verb.
    package internal(set) var durations: [GatewayVerb: Histogram] = [:]
    package internal(set) var rejections: [Rejection: Int] = [:]
    /// Calls of `/v1/verify` that did not pass.
    package internal(set) var refusedTokens: [VerifyRefusal: Int] = [:]
    /// Records that were never written, and those whose outcome is unknown.
    package internal(set) var notProduced = 0
    package internal(set) var maybeProduced = 0
    package internal(set) var deadlines = 0
    /// Calls in a row whose record was written and that got 504, without any answer for this gateway in between.
    package internal(set) var unanswered = 0
    /// Answers 400 and 404 of workers to requests that were judged right here, and 403 to objects and tokens that the files here accept.
    package internal(set) var workerBehind = 0
    /// Answers to requests of other gateways, or of calls that wait no longer.
    package internal(set) var foreignReplies = 0
    /// Calls by the bundle that their header names, where it is one of their app's.
    package internal(set) var bundles: [OwnBundle: Int] = [:]
    /// Calls whose bundle header is not one of their app's.
    package internal(set) var foreignBundles = 0
    /// Events beyond the limit of one second.
    package internal(set) var droppedEvents = 0
    package internal(set) var waiting = 0
    package internal(set) var waitingBytes = 0
    /// How far the brokers' clocks are ahead of ours at least, in milliseconds; negative = behind.
    package internal(set) var clockOffset: Int64?
    /// The same of brokers that are too far off, although others agree with our clock.
    package internal(set) var strayBrokers: [Int32: Int64] = [:]

    package static let durationBounds = Histogram([5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000])

    mutating func note(_ verb: GatewayVerb, _ code: Int, milliseconds: Int64) {
        answers[Answer(verb: verb, code: code), default: 0] += 1
        durations[verb, default: Self.durationBounds].add(milliseconds)
    }

    mutating func reject(_ cause: Rejection) { rejections[cause, default: 0] += 1 }
}
