internal import AppAttest
internal import AppCheck
internal import Streams

/// The counts of a grain, which a lane makes while it encodes.
struct GrainCounts {
    var refusals = RefusalCounts()
    var answers = AnswerCounts()
    /// Timestamps of the requests that have a result.
    var timestamps: [Int64] = []

    /// - Parameters:
    ///   - stream: of the record's first output, a result or a dead letter.
    ///   - hasAnswer: whether the tokens topic gets one.
    ///   - replyPartitions: ``PipelineSettings/replyPartitions``
    mutating func add(
        _ decoded: DecodedRecord,
        _ finding: Finding,
        _ verdict: Verdict,
        _ stream: OutputTopic,
        hasAnswer: Bool,
        replyPartitions: Int32?,
        in registry: Registry
    ) {
        refusals.add(decoded, verdict, in: registry)
        let (app, verb) = Self.account(decoded, in: registry)
        func count(_ event: AnswerCounts.Event, _ app: Int32) {
            answers.add(AnswerCounts.Key(app: app, verb: verb, event: event))
        }
        if stream == .deadLetters {
            // A result that the broker would refuse goes to the dead letters instead.
            if case .deadLetter(let reason) = verdict.outcome { return count(.deadLetter(reason), -1) }
            return count(.deadLetter(.tooLarge), -1)
        }
        if decoded.record.timestamp >= 0 { timestamps.append(decoded.record.timestamp) }
        switch verdict.outcome {
        case .accepted: count(.accepted, app)
        case .refused(let reason, _): count(.refused(reason), app)
        case .deferred(let reason, _): count(.deferred(reason), app)
        case .deadLetter, .applied: return
        }
        if verdict.isDuplicate { count(.duplicate, -1) }
        if let partition = decoded.replyTo, let replyPartitions, !(0..<replyPartitions).contains(partition) {
            answers.add(AnswerCounts.Key(app: -1, verb: nil, event: .replyIgnored))
        }
        if verdict.isRestored { count(.restored, app) }
        if verb?.content == .appCheckToken, let use = Self.use(finding, verdict) {
            count(.tokenUse(use), Self.subject(finding, in: registry))
        }
        guard app >= 0 else { return }
        if case .receipt = finding { countRisk(finding, verdict, app, verb) }
        // Read one member: copying the whole app would touch reference counts that all lanes share.
        if hasAnswer, let times = verdict.order?.times {
            let algorithm = registry.apps[Int(app)].tokens.algorithm
            count(.minted(limitedUse: times.isLimitedUse, algorithm), app)
            if verb?.token == .debug { count(.debugToken, app) }
        }
        if let decision = verdict.rollout {
            let mode = registry.apps[Int(app)].rollout.mode
            count(.rollout(mode, isInside: decision.isInside), app)
        }
        if verdict.isAccepted, decoded.leavesOutLimitedUse { count(.outdated, app) }
    }

    private mutating func countRisk(_ finding: Finding, _ verdict: Verdict, _ app: Int32, _ verb: Verb?) {
        guard verdict.isAccepted, !verdict.isDuplicate, case .receipt(.success(let evidence)) = finding,
            let metric = evidence.receipt.metric
        else { return }
        let bucket = UInt8(clamping: Histogram.riskMetric.bucket(of: Int64(metric)))
        answers.add(AnswerCounts.Key(app: app, verb: verb, event: .risk(bucket: bucket)))
        answers.add(AnswerCounts.Key(app: app, verb: verb, event: .riskSum), Int(metric))
    }

    /// The app and the verb that a path names, whatever the outcome of its request.
    private static func account(_ decoded: DecodedRecord, in registry: Registry) -> (app: Int32, verb: Verb?) {
        if let verb = decoded.verb { return (Int32(decoded.appIndex ?? -1), verb) }
        guard case .refused(_, let path, _, _) = decoded.shape else { return (-1, nil) }
        let account = RequestDecoder.account(of: path, in: registry)
        return (Int32(account.app ?? -1), account.verb)
    }

    private static func use(_ finding: Finding, _ verdict: Verdict) -> AnswerCounts.TokenUse? {
        switch verdict.outcome {
        case .accepted:
            if case .verification(alreadyConsumed: true)? = verdict.order { return .alreadyConsumed }
            return .firstUse
        case .refused(.sessionToken, _): return .session
        case .refused(.tokenInvalid, _): return .invalid(finding.tokenFault)
        case .refused, .deferred, .deadLetter, .applied: return nil
        }
    }

    /// The app that a genuine token was minted for.
    private static func subject(_ finding: Finding, in registry: Registry) -> Int32 {
        guard case .token(.success(let claims)) = finding else { return -1 }
        let subject = ExactText(claims.subject)
        let project = ExactText(claims.projectNumber)
        return Int32(registry.find(project: project, app: subject) ?? registry.find(oauthClient: subject) ?? -1)
    }
}

extension MintOrder {
    /// The token's times; nil if the order mints no token.
    fileprivate var times: TokenTimes? {
        switch self {
        case .attestation(_, let times, _), .assertion(let times, _), .debugToken(let times, _): times
        case .challenge, .verification: nil
        }
    }
}
