package import AppAttest
internal import AppCheck
package import DeviceLab

/// The verb and fault of each record of a fleet: a pure function of the settings and its index.
package struct SimulationPlan: Sendable {
    package let app: SimulatedApp
    package let fleet: FakeFleet
    let verbs: Set<Verb>
    /// The life of the worker's own challenges, in milliseconds; nil = the gateway makes them.
    package let challengeLife: Int64?
    /// The verbs that devices attest with; never empty.
    private let attesting: [Verb]
    /// The verbs after the attestation; none where devices attest again.
    private let later: [Verb]

    /// The verbs that can have a fault: a receipt is Apple's, not the device's.
    private let faultable: [Verb]

    /// How many rounds are searched for a record to repeat.
    private static let lookBack = 32

    init(app: SimulatedApp, fleet: FakeFleet, verbs: Set<Verb>, challengeLife: Int64?) {
        (self.app, self.fleet, self.verbs, self.challengeLife) = (app, fleet, verbs, challengeLife)
        let attestations: [Verb] = [.verifyAttestation, .exchangeAppAttestAttestation]
        let asked = attestations.filter(verbs.contains)
        let isPlain = verbs.contains(.verifyAssertion)
        let isExchange = verbs.contains { $0 != .verifyAssertion }
        attesting = asked.isEmpty ? (isPlain ? [attestations[0]] : []) + (isExchange ? [attestations[1]] : []) : asked
        later = Verb.allCases.filter { verbs.contains($0) && !attestations.contains($0) }
        faultable = later.filter { $0.content != .receipt }
    }

    /// Whether no verb needs the worker's keys.
    var isPlain: Bool { verbs.isSubset(of: SimulationSettings.plainVerbs) }

    /// - Parameter time: the device's clock; nil = the plan's time.
    package func step(_ index: Int, at time: EvaluationTime? = nil) -> SimulatedStep {
        let step = fleet.step(index, at: time)
        guard !isPlain else {
            let fault = step.fault.map(SimulatedFault.object)
            let (verb, counter, earlier) = (step.kind.verb, step.counter, step.replayOf)
            return SimulatedStep(step: step, verb: verb, fault: fault, counter: counter, repeats: earlier)
        }
        guard let round = fleet.round(of: index) else {
            return SimulatedStep(step: step, verb: pick(attesting, .verb, step.device))
        }
        switch step.fault {
        case nil: return honest(step, round, isLive: time != nil)
        case .attestation?: return faulty(step, pick(attesting, .verb, index))
        case .assertion?: return faulty(step, pick(faultable, .verb, index))
        case .replay?: return replay(step, round, isLive: time != nil)
        }
    }

    /// The expected outcome of a worker: `accepted`, or the reason.
    package func expected(_ index: Int) -> String {
        let simulated = step(index)
        switch simulated.fault {
        case nil: return "accepted"
        case .exchange(let fault)?: return fault.expected.code
        case .object(let fault)?:
            guard fault == .replay, simulated.verb == .exchangeAppAttestAssertion, let life = challengeLife,
                let earlier = simulated.repeats
            else { return fault.expectedReason }
            let issued = ExchangeTimes.issue(at: fleet.step(earlier).time)
            let isOver = simulated.step.time.milliseconds >= issued.milliseconds + life
            return (isOver ? Reason.challengeExpired : .challengeConsumed).code
        }
    }

    enum Purpose: UInt64 { case verb = 1, fault, repetition, limitedUse, resource, challenge, order }

    /// Random numbers that depend only on the plan, the purpose and the number.
    func generator(_ purpose: Purpose, _ number: Int) -> SeededRandom {
        var mixed = SeededRandom(seed: fleet.plan.seed ^ purpose.rawValue &* 0xA076_1D64_78BD_642F)
        mixed = SeededRandom(seed: mixed.next() ^ UInt64(number))
        return SeededRandom(seed: mixed.next())
    }

    private func pick<Choice>(_ choices: [Choice], _ purpose: Purpose, _ number: Int) -> Choice {
        precondition(!choices.isEmpty, "devices have something to do")
        var random = generator(purpose, number)
        return choices[Int(random.next() % UInt64(choices.count))]
    }

    private func honest(_ step: FleetStep, _ round: Int, isLive: Bool) -> SimulatedStep {
        guard step.kind == .assertion else {
            return SimulatedStep(step: step, verb: pick(attesting, .verb, step.index))
        }
        let verb = pick(later, .verb, step.index)
        // If devices do not follow the plan's times, it is unknown which tokens are alive.
        if verb == .verifyAppCheckToken, !isLive, usesAgain(step.index) {
            let earlier = last(verb, of: step.device, before: round) { !usesAgain($0) && lives($0, at: step.time) }
            return SimulatedStep(step: step, verb: verb, repeats: earlier)
        }
        return SimulatedStep(step: step, verb: verb, counter: step.counter)
    }

    /// One check of a token in four is of a token that was used before.
    private func usesAgain(_ index: Int) -> Bool { pick([true, false, false, false], .repetition, index) }

    /// Whether the token of a record is alive at a time.
    private func lives(_ index: Int, at time: EvaluationTime) -> Bool {
        ExchangeTimes.token(at: fleet.step(index).time).expiresAt > time.milliseconds / 1000
    }

    private func faulty(_ step: FleetStep, _ verb: Verb) -> SimulatedStep {
        let hasObject = verb.bringsAttestation || verb.bringsAssertion
        let pool = ExchangeFault.pool(verb, judgesChallenges: challengeLife != nil)
        var random = generator(.fault, step.index)
        if pool.isEmpty || (hasObject && random.next() % 3 > 0), let fault = step.fault {
            return SimulatedStep(step: step, verb: verb, fault: .object(fault), counter: step.counter)
        }
        let fault = pool[Int(random.next() % UInt64(pool.count))]
        return SimulatedStep(step: step, verb: verb, fault: .exchange(fault), counter: step.counter)
    }

    /// An assertion again; without one to repeat, an assertion whose counter is 0.
    private func replay(_ step: FleetStep, _ round: Int, isLive: Bool) -> SimulatedStep {
        let verb = pick(faultable, .verb, step.index)
        guard verb.bringsAssertion else { return faulty(step, verb) }
        let earlier = last(verb, of: step.device, before: round) { _ in true }
        let counter = earlier.flatMap { fleet.round(of: $0) }.map { UInt32(clamping: $0 + 1) } ?? 0
        // Bytes sealed at another time are not known any more: only the counter is repeated.
        let isRepeated = verb == .verifyAssertion || !isLive
        let repeated = isRepeated ? earlier : nil
        return SimulatedStep(step: step, verb: verb, fault: .object(.replay), counter: counter, repeats: repeated)
    }

    private func last(_ verb: Verb, of device: Int, before round: Int, where isFit: (Int) -> Bool) -> Int? {
        for round in (max(0, round - Self.lookBack)..<round).reversed() {
            let index = fleet.index(of: device, round: round)
            let step = fleet.step(index)
            guard step.fault == nil, step.kind == .assertion, pick(later, .verb, index) == verb else { continue }
            if isFit(index) { return index }
        }
        return nil
    }

    /// A plan for each app: record i is the plan's record i / n.
    package static func plans(_ apps: [SimulatedApp], _ ca: LabCA, _ settings: SimulationSettings) -> [SimulationPlan] {
        apps.enumerated().map { index, app in
            var plan = FleetPlan(
                ca: ca,
                seed: settings.seed &+ UInt64(index) &* 0x9E37_79B9_7F4A_7C15,
                appIDs: app.appleAppIDs,
                devices: share(settings.devices, index, apps.count),
                records: share(settings.records, index, apps.count),
                start: EvaluationTime(milliseconds: settings.start + Int64(index) * settings.interval / 1_000_000)
            )
            plan.environment = app.environment
            plan.shapes = app.shapes
            plan.category = app.category
            plan.bundleVersion = app.bundleVersion
            if case .bytes(let bytes) = app.registered.clientDataHash { plan.clientDataHashBytes = bytes }
            plan.kinds = Set(settings.verbs.map { $0.bringsAttestation ? .attestation : .assertion })
            plan.faultShare = settings.faultShare
            plan.brokerShare = settings.brokerShare
            plan.nanosecondsApart = settings.interval * Int64(apps.count)
            return SimulationPlan(
                app: app,
                fleet: FakeFleet(plan),
                verbs: settings.verbs,
                challengeLife: settings.challengeLife
            )
        }
    }

    /// How many of `total` things one of `count` gets when they take turns.
    private static func share(_ total: Int, _ index: Int, _ count: Int) -> Int {
        total / count + (index < total % count ? 1 : 0)
    }
}
