internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Pipeline
internal import Settings

/// 7: the figures that verdicts rest on.
extension ReplayReport {
    var what: [Report.Part] {
        let ttl = Figure.span(facts.settings.exchange.challenges.ttlMilliseconds)
        return nearMisses(
            "Counter presented, less the stored one",
            "Assertions whose signature holds. A counter must be greater than the stored one: from +1 on, or skipped and within the app's window.",
            facts.counters,
            "refused: counter-not-greater"
        )
            + nearMisses(
                "Age of the challenge when it was used",
                "Genuine challenges of exchanges, against the stream time. They live \(ttl) (challenges.ttl).",
                facts.challenges,
                "refused: challenge-expired or challenge-ahead"
            )
            + nearMisses(
                "Evaluation time against the leaf's dates",
                "Attestations whose leaf can be read. A leaf is valid from some minutes before its attestation on.",
                facts.leafDates,
                "refused: expired-or-not-yet-valid:leaf"
            ) + identities
    }

    private func nearMisses(
        _ title: String,
        _ note: String,
        _ nearMisses: NearMisses,
        _ reason: String
    ) -> [Report.Part] {
        guard nearMisses.total > 0 else { return [.heading(title), .text("No record has it.")] }
        let rows = nearMisses.names.enumerated().map { row, name in
            let counts = nearMisses.counts.map { $0[row] }
            return Report.Row([.text(name)] + counts.map { .count($0) }, drawing: counts.map { Double($0) })
        }
        let columns = ["", "accepted", "refused for it", "refused otherwise"]
        let names = ["accepted", reason, "refused for another reason"]
        let table = Report.Table(columns, rows, bars: [.blue, .orange, .grey], names)
        return [.heading(title), .text(note), .table(table)]
    }

    // MARK: App IDs and environments

    private static let mostIdentities = 60

    private struct Identity {
        let app: Int
        let name: String
        let environment: String
        /// nil where nothing was presented to compare with.
        let isConfigured: Bool?
        var accepted = 0
        var refused = 0

        var row: Report.Row {
            let answer: Report.Value = isConfigured.map { .text($0 ? "yes" : "no") } ?? .missing
            return Report.Row([.foreign(name), .text(environment), answer, .count(accepted), .count(refused)])
        }
    }

    private var identities: [Report.Part] {
        let title = Report.Part.heading("App IDs and environments, presented beside configured")
        let rows = identityRows
        guard !rows.isEmpty else { return [title, .text("No app is configured.")] }
        let shown = rows.prefix(Self.mostIdentities)
        let groups = facts.settings.registry.apps.enumerated().flatMap { index, app in
            let own = shown.filter { $0.app == index }
            return own.isEmpty ? [] : [.group(app.label)] + own.map(\.row)
        }
        let hidden =
            rows.dropFirst(Self.mostIdentities).reduce(0) { $0 + $1.accepted + $1.refused }
            + facts.presented.rest.accepted + facts.presented.rest.refused
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
        let apps = facts.settings.registry.apps
        let names = configuredNames
        var (rows, left): ([Identity], [PresentedAppIDs.Key: (accepted: Int, refused: Int)]) = (
            [], facts.presented.counts
        )
        for (index, app) in apps.enumerated() {
            for id in app.expectations.appIDs {
                for environment in Environment.allCases.reversed() where app.expectations.accepts(environment) {
                    let key = PresentedAppIDs.Key(app: index, appID: id.rpIDHash, environment: environment)
                    let count = left.removeValue(forKey: key) ?? (0, 0)
                    rows.append(
                        Identity(
                            app: index,
                            name: id.text,
                            environment: environment.rawValue,
                            isConfigured: true,
                            accepted: count.accepted,
                            refused: count.refused
                        )
                    )
                }
            }
        }
        let others = left.map { key, count in
            let name = key.appID.map { names[$0] ?? unconfiguredName(of: $0) }
            let own = apps[key.app].expectations.appIDs
            let isListed = key.appID.map { id in own.contains { $0.rpIDHash == id } } ?? false
            return Identity(
                app: key.app,
                name: name ?? "cannot be read",
                environment: key.environment?.rawValue ?? "not known",
                // An assertion says no environment: its key's record would.
                isConfigured: key.appID == nil || isListed && key.environment == nil ? nil : false,
                accepted: count.accepted,
                refused: count.refused
            )
        }
        return rows
            + others.sorted { left, right in
                let (one, two) = (left.accepted + left.refused, right.accepted + right.refused)
                return one == two
                    ? (left.app, left.name, left.environment) < (right.app, right.name, right.environment) : one > two
            }
    }
}
