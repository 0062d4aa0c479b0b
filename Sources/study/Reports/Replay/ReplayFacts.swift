internal import AppAttest
internal import AppCheck
package import Pipeline
internal import Streams
internal import Threads

/// The facts of a replay's report, counted while the replay runs, in memory that is bounded whatever the capture
/// has. The loop's thread owns it until the loop has ended.
package final class ReplayFacts: @unchecked Sendable {
    private var owner = Owner("ReplayFacts")
    let outcomes: OutcomeList
    let settings: PipelineSettings
    private(set) var records: [Int]
    private(set) var firstSeen: [Int64?]
    private(set) var lastSeen: [Int64?]
    private(set) var duplicates = 0
    private(set) var withoutTime = 0
    private(set) var population: Population
    private(set) var times = TimeCounts()
    private(set) var counters = NearMisses.counters
    private(set) var challenges: NearMisses
    private(set) var leafDates = NearMisses.leafDates
    private(set) var presented = PresentedAppIDs()
    private(set) var metrics = KnownMetrics()
    /// Records of unknown keys, by the reason for which the keys' attestations were not accepted before.
    private(set) var attestations: [String: Int] = [:]
    private(set) var examples: ExampleSample
    private(set) var diff: VerdictDiff?
    private let explainer: Explainer
    private let names: KnownNames

    /// - Parameter old: to compare with; nil without `--diff`.
    package init(_ settings: PipelineSettings, explainer: Explainer, outcomes: OutcomeList, old: OldVerdicts? = nil) {
        self.settings = settings
        self.explainer = explainer
        self.outcomes = outcomes
        let count = outcomes.count
        records = [Int](repeating: 0, count: count)
        firstSeen = [Int64?](repeating: nil, count: count)
        lastSeen = firstSeen
        population = Population(outcomes: count)
        challenges = NearMisses.challengeAges(ttl: settings.exchange.challenges.ttlMilliseconds)
        examples = ExampleSample(outcomes: count)
        diff = old.map { VerdictDiff($0) }
        names = KnownNames(apps: settings.registry.apps.map(\.label))
    }

    package var observer: Observer { { self.note($0) } }

    var total: Int { records.reduce(0, +) }

    func total(_ kind: MarkKind) -> Int {
        outcomes.indices.reduce(0) { outcomes.kind($1) == kind ? $0 + records[$1] : $0 }
    }

    private func note(_ observation: Observation) {
        owner.check()
        explainer.note(observation)
        guard let outcome = outcomes.index(of: observation.verdict.outcome) else { return }
        let (decoded, inbound) = (observation.record, observation.record.record)
        let account = account(of: decoded)
        records[Int(outcome)] += 1
        if observation.verdict.isDuplicate { duplicates += 1 }
        let time: Int64? = InboundRecord.timestamps.contains(inbound.timestamp) ? inbound.timestamp : nil
        note(time, outcome)
        let isLetter = outcomes.kind(Int(outcome)) == .deadLetter
        diff?.add(RecordPlace(inbound), outcome, isLetter: isLetter, app: account.app)
        let traits = DeviceTraits(observation.finding, decoded.request)
        if !isLetter {
            noteSender(observation, account, outcome, traits, time)
            noteMargins(observation, outcome, traits)
        }
        if settings.registry.keepsReceipts { metrics.note(observation, account.verb) }
        if let attestation = explainer.attestation(before: observation) {
            attestations[attestation.reason.code, default: 0] += 1
        }
        if examples.wants(outcome) { examples.add(RecordExample(explainer.explain(observation), outcome)) }
    }

    private func note(_ time: Int64?, _ outcome: OutcomeList.Index) {
        guard let time else { return withoutTime += 1 }
        times.add(time, outcome)
        firstSeen[Int(outcome)] = min(firstSeen[Int(outcome)] ?? time, time)
        lastSeen[Int(outcome)] = max(lastSeen[Int(outcome)] ?? time, time)
    }

    private typealias Account = (app: Int?, verb: Verb?, keyID: KeyID?)

    private func account(of decoded: DecodedRecord) -> Account {
        if let verb = decoded.verb { return (decoded.appIndex, verb, decoded.keyID) }
        guard case .refused(_, let path, let keyID, _) = decoded.shape else { return (nil, nil, nil) }
        // An operator's command names a key and comes from no device.
        guard OperatorRequest.verb(of: path.utf8) == nil else { return (nil, nil, nil) }
        let account = RequestDecoder.account(of: path, in: settings.registry)
        // As in its result: the body's key ID, else the record key if that is one.
        return (account.app, account.verb, keyID ?? decoded.record.key.flatMap { KeyID(recordKey: $0) })
    }

    private func noteSender(
        _ observation: Observation,
        _ account: Account,
        _ outcome: OutcomeList.Index,
        _ traits: DeviceTraits,
        _ time: Int64?
    ) {
        let key = observation.state.key
        let environment = traits.environment ?? observation.verdict.environment ?? key?.environment
        var sender = Sender(installation: observation.record.installationID, keyID: account.keyID)
        if let verb = account.verb {
            sender.bringsAttestation = verb.bringsAttestation
            sender.bringsObject = verb.bringsAttestation || verb.bringsAssertion
            sender.asksForChallenge = verb == .generateAppAttestChallenge
            sender[.verb] = names.verb(verb)
        }
        sender[.app] = account.app.map { names.apps[$0] }
        sender[.platform] = traits.platform
        sender[.osVersion] = traits.osVersion
        sender[.category] = (traits.validationCategory ?? key?.validationCategory).map { names.category($0) }
        sender[.bundleVersion] = traits.bundleVersion
        sender[.environment] = environment.map { names.environment($0) }
        sender.appID = traits.appIDHash
        population.note(sender, outcome, at: RecordPlace(observation.record.record), time)
        if let app = account.app, sender.bringsObject {
            let key = PresentedAppIDs.Key(app: app, appID: traits.appIDHash, environment: environment)
            presented.add(key, name: traits.appID, isAccepted: outcome == OutcomeList.accepted)
        }
    }

    private func noteMargins(_ observation: Observation, _ outcome: OutcomeList.Index, _ traits: DeviceTraits) {
        let verdict = observation.verdict
        // A duplicate is answered before anything is judged.
        guard !verdict.isDuplicate else { return }
        func kind(_ own: Set<String>) -> NearMisses.Class {
            guard outcome != OutcomeList.accepted else { return .accepted }
            return own.contains(outcomes.name(Int(outcome))) ? .refused : .otherwise
        }
        if case .assertion(.success(let evidence)) = observation.finding.object, let stored = verdict.previousCounter {
            counters.add(Int64(evidence.counter) - Int64(stored), kind(["counter-not-greater"]))
        }
        if case .success(let issued)? = observation.finding.seals?.challenge {
            let (age, isBeyond) = observation.state.streamTime.milliseconds
                .subtractingReportingOverflow(issued.milliseconds)
            if !isBeyond { challenges.add(age, kind(["challenge-expired", "challenge-ahead"])) }
        }
        if let dates = traits.validity {
            let time = observation.record.record.timestamp
            let (start, end) = (dates.lowerBound.milliseconds, dates.upperBound.milliseconds)
            let late = time.clampedSubtracting(end)
            let distance = late > 0 ? NearMisses.afterEnd.clampedAdding(late) : time.clampedSubtracting(start)
            leafDates.add(distance, kind([Refusal.expiredOrNotYetValid(.leaf).code]))
        }
    }
}
