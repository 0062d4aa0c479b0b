internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Pipeline
internal import Settings

/// 6: the figures that verdicts rest on.
extension ReplayReport {
    func what(_ page: inout Markup) {
        margins(
            "Counter presented, less the stored one",
            "Assertions whose signature holds. A counter must be greater than the stored one: from +1 on.",
            facts.counters,
            "refused: counter-not-greater",
            &page
        )
        let ttl = Figure.span(facts.settings.exchange.challenges.ttlMilliseconds)
        margins(
            "Age of the challenge when it was used",
            "Genuine challenges of exchanges, against the stream time. They live \(ttl) (challenges.ttl).",
            facts.challenges,
            "refused: challenge-expired or challenge-ahead",
            &page
        )
        margins(
            "Evaluation time against the leaf's dates",
            "Attestations whose leaf can be read. A leaf is valid from some minutes before its attestation on.",
            facts.leafDates,
            "refused: expired-or-not-yet-valid:leaf",
            &page
        )
        identities(&page)
    }

    private func margins(
        _ title: String,
        _ note: String,
        _ margins: Margins,
        _ reason: String,
        _ page: inout Markup
    ) {
        page.element("h3", title)
        guard margins.total > 0 else { return page.note("No record has it.") }
        page.note(note)
        page.card { card in
            card.legend([(.accepted, "accepted"), (.refused, reason), (.deadLetter, "refused for another reason")])
            let top = margins.names.indices.map { row in margins.counts.reduce(0) { $0 + $1[row] } }.max() ?? 1
            card.table(["", "", "accepted", "refused for it", "refused otherwise"], class: "bars") { body in
                for (row, name) in margins.names.enumerated() {
                    let counts = margins.counts.map { $0[row] }
                    body.element("tr") { line in
                        line.element("td", name)
                        line.element("td", ["class": "bar"]) { Self.bar(counts, top, name, &$0) }
                        for count in counts { line.element("td", count == 0 ? "–" : count.grouped) }
                    }
                }
            }
        }
    }

    private static func bar(_ counts: [Int], _ top: Int, _ name: String, _ cell: inout Markup) {
        let kinds: [MarkKind] = [.accepted, .refused, .deadLetter]
        cell.element(
            "svg",
            [
                "class": "bar", "viewBox": "0 0 1000 10", "preserveAspectRatio": "none", "role": "img",
                "aria-label": name,
            ]
        ) { svg in
            var x = 0.0
            for (kind, count) in zip(kinds, counts) where count > 0 {
                let width = max(6, Double(count) / Double(max(1, top)) * 980)
                svg.empty(
                    "rect",
                    [
                        "class": "f-" + kind.rawValue, "x": Figure.point(x), "y": "0", "width": Figure.point(width),
                        "height": "10",
                    ]
                )
                x += width + 2
            }
        }
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
    }

    private func identities(_ page: inout Markup) {
        page.element("h3", "App IDs and environments, presented beside configured")
        let rows = identityRows
        guard !rows.isEmpty else { return page.note("No app is configured.") }
        page.note("By the app that a request's path names. A pair that is not configured is refused.")
        page.card { card in
            let columns = ["App ID presented", "environment", "configured", "accepted", "refused"]
            card.table(columns, leftAligned: [1, 2]) { body in
                for (index, app) in facts.settings.registry.apps.enumerated() {
                    let own = rows.prefix(Self.mostIdentities).filter { $0.app == index }
                    guard !own.isEmpty else { continue }
                    body.element("tr", ["class": "g"]) { line in
                        line.element("td", ["colspan": "5"]) { $0.foreign(app.name) }
                    }
                    for row in own { Self.write(row, &body) }
                }
            }
            let hidden =
                rows.dropFirst(Self.mostIdentities).reduce(0) { $0 + $1.accepted + $1.refused }
                + facts.presented.rest.accepted + facts.presented.rest.refused
            if hidden > 0 { card.note("\(Figure.count(hidden, "record")) presented others.") }
        }
    }

    private static func write(_ row: Identity, _ body: inout Markup) {
        let isConfigured = row.isConfigured.map { $0 ? "yes" : "no" } ?? "–"
        body.element("tr") { line in
            line.element("td") { $0.foreign(row.name) }
            line.element("td", ["class": "l"], row.environment)
            line.element("td", ["class": row.isConfigured == false ? "l no" : "l"], isConfigured)
            line.element("td", row.accepted == 0 ? "–" : row.accepted.grouped)
            line.element("td", row.refused == 0 ? "–" : row.refused.grouped)
        }
    }

    /// What is configured, presented or not, then what else was presented.
    private var identityRows: [Identity] {
        let apps = facts.settings.registry.apps
        var names: [Digest: String] = [:]
        for app in apps { for id in app.expectations.appIDs { names[id.rpIDHash] = id.text } }
        var (rows, left): ([Identity], [PresentedIDs.Key: (accepted: Int, refused: Int)]) = ([], facts.presented.counts)
        for (index, app) in apps.enumerated() {
            for id in app.expectations.appIDs {
                for environment in Environment.allCases.reversed() where app.expectations.accepts(environment) {
                    let key = PresentedIDs.Key(app: index, appID: id.rpIDHash, environment: environment)
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
            let name = key.appID.map { hash in
                names[hash] ?? facts.presented.names[hash]?.shown
                    ?? "not known, SHA-256 \(ReportValue.bytes(hash.bytes))"
            }
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
