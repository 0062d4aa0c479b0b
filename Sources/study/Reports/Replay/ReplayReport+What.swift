internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Pipeline
internal import Settings

/// 7: the figures that verdicts rest on.
extension ReplayReport {
    var what: [Report.Part] {
        let ttl = Figure.span(facts.settings.exchange.challenges.ttlMilliseconds)
        let figures: [(String, String, NearMisses, String)] = [
            (
                "Counter presented, less the stored one",
                "Assertions whose signature holds. A counter must be greater than the stored one: from +1 on, or skipped "
                    + "and within the app's window.", facts.counters, "counter-not-greater"
            ),
            (
                "Age of the challenge when it was used",
                "Genuine challenges of exchanges, against the stream time. They live \(ttl) (challenges.ttl).",
                facts.challenges, "challenge-expired or challenge-ahead"
            ),
            (
                "Evaluation time against the leaf's dates",
                "Attestations whose leaf can be read. A leaf is valid from some minutes before its attestation on.",
                facts.leafDates, "expired-or-not-yet-valid:leaf"
            ),
        ]
        return figures.flatMap { nearMisses($0, $1, $2, $3) } + identities
    }

    private func nearMisses(_ title: String, _ note: String, _ figures: NearMisses, _ own: String) -> [Report.Part] {
        guard figures.total > 0 else { return [.heading(title), .text("No record has it.")] }
        let rows = figures.names.enumerated().map { row, name in
            let counts = figures.counts.map { $0[row] }
            return Report.Row([.text(name)] + counts.map { .count($0) }, drawing: counts.map { Double($0) })
        }
        let columns = ["", "accepted", "refused for it", "refused otherwise"]
        let names = ["accepted", "refused: \(own)", "refused for another reason"]
        let table = Report.Table(columns, rows, bars: [.blue, .orange, .grey], names)
        return [.heading(title), .text(note), .table(table)]
    }

    // MARK: App IDs and environments

    private static let mostIdentities = 60

    private struct Identity {
        let key: PresentedAppIDs.Key
        let name: String
        /// nil where nothing was presented to compare with.
        let isConfigured: Bool?
        let count: PresentedAppIDs.Count

        var environment: String { key.environment?.rawValue ?? "not known" }

        var row: Report.Row {
            let answer: Report.Value = isConfigured.map { .text($0 ? "yes" : "no") } ?? .missing
            return Report.Row([
                .foreign(name), .text(environment), answer, .count(count.accepted), .count(count.refused),
            ])
        }
    }

    private var identities: [Report.Part] {
        let title = Report.Part.heading("App IDs and environments, presented beside configured")
        let rows = identityRows
        guard !rows.isEmpty else { return [title, .text("No app is configured.")] }
        let shown = rows.prefix(Self.mostIdentities)
        let groups = facts.settings.registry.apps.enumerated().flatMap { index, app in
            let own = shown.filter { $0.key.app == index }
            return own.isEmpty ? [] : [.group(app.label)] + own.map(\.row)
        }
        let hidden = rows.dropFirst(Self.mostIdentities).reduce(facts.presented.rest.total) { $0 + $1.count.total }
        let columns = ["App ID presented", "environment", "configured", "accepted", "refused"]
        return [
            title, .text("By the app that a request's path names. A pair that is not configured is refused."),
            .table(Report.Table(columns, groups)),
        ] + (hidden > 0 ? [.text("\(hidden.counted("record")) presented others.")] : [])
    }

    var configuredNames: [Digest: String] {
        let ids = facts.settings.registry.apps.flatMap(\.expectations.appIDs)
        return Dictionary(ids.map { ($0.rpIDHash, $0.text) }) { first, _ in first }
    }

    func unconfiguredName(of hash: Digest) -> String {
        facts.presented.names[hash]?.shown ?? "not known, SHA-256 \(ReportValue.bytes(hash.bytes))"
    }

    /// Rows of what is configured, presented or not, then of what else was presented.
    private var identityRows: [Identity] {
        let (apps, names) = (facts.settings.registry.apps, configuredNames)
        var (rows, left) = ([Identity](), facts.presented.counts)
        for (index, app) in apps.enumerated() {
            for id in app.expectations.appIDs {
                for environment in Environment.allCases.reversed() where app.expectations.accepts(environment) {
                    let key = PresentedAppIDs.Key(app: index, appID: id.rpIDHash, environment: environment)
                    let count = left.removeValue(forKey: key) ?? PresentedAppIDs.Count()
                    rows.append(Identity(key: key, name: id.text, isConfigured: true, count: count))
                }
            }
        }
        let others = left.map { key, count in
            let name = key.appID.map { names[$0] ?? unconfiguredName(of: $0) } ?? "cannot be read"
            let own = apps[key.app].expectations.appIDs
            let isListed = key.appID.map { id in own.contains { $0.rpIDHash == id } } ?? false
            // An assertion says no environment: its key's record would.
            let isConfigured: Bool? = key.appID == nil || isListed && key.environment == nil ? nil : false
            return Identity(key: key, name: name, isConfigured: isConfigured, count: count)
        }
        return rows
            + others.sorted { left, right in
                (-left.count.total, left.key.app, left.name, left.environment)
                    < (-right.count.total, right.key.app, right.name, right.environment)
            }
    }
}

/// The Apple App IDs and environments that objects presented, by the app that they were sent to.
struct PresentedAppIDs {
    struct Key: Hashable {
        let app: Int
        /// SHA-256 of the App ID; nil in what could not be read.
        let appID: Digest?
        /// nil in assertions of unknown keys, and in what could not be read.
        let environment: Environment?
    }

    struct Count {
        var accepted = 0
        var refused = 0

        var total: Int { accepted + refused }

        mutating func add(isAccepted: Bool) { if isAccepted { accepted += 1 } else { refused += 1 } }
    }

    private let most: Int
    private(set) var counts: [Key: Count] = [:]
    /// Records of keys beyond the table.
    private(set) var rest = Count()
    /// The App IDs in clear by their hash, where attestations say them.
    private(set) var names: [Digest: ExactText] = [:]

    init(most: Int = 4096) { self.most = most }

    /// - Parameter name: what the key's hash stands for.
    mutating func add(_ key: Key, name: ExactText? = nil, isAccepted: Bool) {
        if let hash = key.appID, let name, names.count < most { names[hash] = name }
        guard counts[key] != nil || counts.count < most else { return rest.add(isAccepted: isAccepted) }
        counts[key, default: Count()].add(isAccepted: isAccepted)
    }
}
