internal import AppAttest
internal import AppCheck
internal import Log
package import Pipeline
internal import Threads

/// The parts of traffic that refusals are looked for in.
enum Dimension: Int, CaseIterable {
    case verb, app, platform, osVersion, category, bundleVersion, environment

    var name: String {
        switch self {
        case .verb: "verb"
        case .app: "app"
        case .platform: "platform"
        case .osVersion: "OS version"
        case .category: "validation category"
        case .bundleVersion: "bundle version"
        case .environment: "environment"
        }
    }
}

/// What the report of a replay shows, counted while the replay runs, in memory that is bounded whatever the capture
/// has. The loop's thread owns it until the loop has ended.
package final class ReplayFacts: @unchecked Sendable {
    private var owner = Owner("ReplayFacts")
    let outcomes: OutcomeList
    let settings: PipelineSettings
    private(set) var records: [Int]
    private(set) var recordDevices: [Int]
    private(set) var firstSeen: [Int64?]
    private(set) var lastSeen: [Int64?]
    private(set) var duplicates = 0
    private(set) var withoutTime = 0
    private(set) var devices: DeviceTable
    private(set) var times = TimeCounts()
    private(set) var marks = MarkLog()
    private(set) var values: [ValueTable]
    private(set) var counters = Margins.counters
    private(set) var challenges: Margins
    private(set) var leafDates = Margins.leafDates
    private(set) var presented = PresentedIDs()
    /// Records of unknown keys, by the reason for which the keys' attestations were not accepted before.
    private(set) var attestations: [String: Int] = [:]
    private(set) var examples: ExampleShelf
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
        recordDevices = records
        firstSeen = [Int64?](repeating: nil, count: count)
        lastSeen = firstSeen
        devices = DeviceTable()
        values = Dimension.allCases.map { _ in ValueTable(outcomes: count) }
        challenges = Margins.challengeAges(ttl: settings.exchange.challenges.ttlMilliseconds)
        examples = ExampleShelf(outcomes: count)
        diff = old.map { VerdictDiff($0) }
        names = KnownNames(apps: settings.registry.apps.map(\.name))
    }

    package var observer: Observer {
        { observation in self.note(observation) }
    }

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
        diff?.add(
            RecordPlace(partition: inbound.partition, offset: inbound.offset),
            outcome,
            isLetter: outcomes.kind(Int(outcome)) == .deadLetter,
            app: account.app
        )
        let traits = DeviceTraits(observation.finding, decoded.request)
        let place = noteDevice(decoded, account, outcome, time)
        if outcomes.kind(Int(outcome)) != .deadLetter {
            noteValues(observation, account, outcome, traits, place)
            noteMargins(observation, outcome, traits)
        }
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

    private typealias Account = (app: Int?, method: Method?, keyID: KeyID?)

    private func account(of decoded: DecodedRecord) -> Account {
        if let method = decoded.method { return (decoded.appIndex, method, decoded.keyID) }
        guard case .refused(_, let path, let keyID, _) = decoded.shape else { return (nil, nil, nil) }
        // An operator's command names a key and comes from no device.
        guard OperatorRequest.verb(of: path.utf8) == nil else { return (nil, nil, nil) }
        let account = RequestDecoder.account(of: path, in: settings.registry)
        // As in its result: the body's key ID, else the record key if that is one.
        return (account.app, account.method, keyID ?? decoded.record.key.flatMap { KeyID(recordKey: $0) })
    }

    /// A device is who presents an object, or is refused: an accepted challenge says nothing about it yet.
    private func noteDevice(
        _ decoded: DecodedRecord,
        _ account: Account,
        _ outcome: OutcomeList.Index,
        _ time: Int64?
    ) -> Int? {
        let bringsObject = account.method.map { $0.bringsAttestation || $0.bringsAssertion } ?? false
        guard outcomes.kind(Int(outcome)) != .deadLetter, bringsObject || outcome != OutcomeList.accepted,
            let place = devices.place(installation: decoded.installationID, keyID: account.keyID)
        else { return nil }
        devices[place].records += 1
        if devices[place].reasons.insert(outcome) { recordDevices[Int(outcome)] += 1 }
        if outcome == OutcomeList.accepted {
            devices[place].accepted += 1
        } else {
            devices[place].refused += 1
            devices[place].lastRefused = (decoded.record.partition, decoded.record.offset)
        }
        if let time { marks.add(place, time, outcome) }
        return place
    }

    private func noteValues(
        _ observation: Observation,
        _ account: Account,
        _ outcome: OutcomeList.Index,
        _ traits: DeviceTraits,
        _ device: Int?
    ) {
        func count(_ dimension: Dimension, _ text: ExactText?) {
            let id = values[dimension.rawValue].id(of: text)
            values[dimension.rawValue].count(id, outcome)
        }
        count(.verb, account.method.map { names.verb($0) })
        count(.app, account.app.map { names.apps[$0] })
        let key = observation.state.key
        let category = traits.validationCategory ?? key?.validationCategory
        count(.category, category.map { names.category($0) })
        count(.bundleVersion, traits.bundleVersion)
        let environment = traits.environment ?? observation.verdict.environment ?? key?.environment
        count(.environment, environment.map { names.environment($0) })
        system(.platform, traits.platform, outcome, device, \.platform)
        system(.osVersion, traits.osVersion, outcome, device, \.osVersion)
        if let app = account.app, account.method.map({ $0.bringsAttestation || $0.bringsAssertion }) ?? false {
            let key = PresentedIDs.Key(app: app, appID: traits.appIDHash, environment: environment)
            presented.add(key, name: traits.appID, isAccepted: outcome == OutcomeList.accepted)
        }
    }

    /// An assertion does not say on what system it was made: what the device's attestation in this capture said holds.
    private func system(
        _ dimension: Dimension,
        _ text: ExactText?,
        _ outcome: OutcomeList.Index,
        _ device: Int?,
        _ kept: WritableKeyPath<DeviceTable.Device, ValueTable.ID>
    ) {
        let known = device.map { devices[$0][keyPath: kept] } ?? ValueTable.unknown
        let id = text == nil ? known : values[dimension.rawValue].id(of: text)
        if let device, text != nil { devices[device][keyPath: kept] = id }
        values[dimension.rawValue].count(id, outcome)
    }

    private func noteMargins(_ observation: Observation, _ outcome: OutcomeList.Index, _ traits: DeviceTraits) {
        let verdict = observation.verdict
        // A duplicate is answered before anything is judged.
        guard !verdict.isDuplicate else { return }
        func kind(_ own: Set<String>) -> Margins.Class {
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
            let distance = late > 0 ? Margins.afterEnd.clampedAdding(late) : time.clampedSubtracting(start)
            leafDates.add(distance, kind([Refusal.expiredOrNotYetValid(.leaf).code]))
        }
    }
}
