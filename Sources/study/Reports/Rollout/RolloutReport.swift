package import AppCheck

/// The state of each app's rollout, from its events.
package struct RolloutReport {
    package let registry: Registry
    package let rule: GrowthRule
    /// Events before this time are left out; milliseconds since 1970.
    let since: Int64?
    private let isDetailed: Bool
    /// Each app's counts, by its own name, or the event's if no app has it.
    package private(set) var tallies: [String: RolloutTally] = [:]
    /// The same apps' devices and days; only in a detailed report.
    private(set) var facts: [String: RolloutFacts] = [:]
    package private(set) var read = 0
    package private(set) var hasRead = false
    package private(set) var unreadable = 0

    /// - Parameter isDetailed: whether devices and days are counted too, for a page.
    package init(_ registry: Registry, rule: GrowthRule, since: Int64? = nil, isDetailed: Bool = false) {
        (self.registry, self.rule) = (registry, rule)
        (self.since, self.isDetailed) = (since, isDetailed)
        for app in registry.apps { tallies[app.name] = RolloutTally() }
    }

    package mutating func add(_ value: [UInt8]?) {
        guard let event = Event(value), event.kind != .other, event.kind != .risk || event.risk != nil else {
            return unreadable += 1
        }
        hasRead = true
        // Apple's metrics say nothing of a rollout.
        if event.kind == .risk { return }
        if let since, event.at ?? .min < since { return }
        read += 1
        let app = registry.find(resource: event.app)
        let name = app?.name ?? event.app
        tallies[name, default: RolloutTally()].add(event, parts: app?.rollout.parts)
        if isDetailed { facts[name, default: RolloutFacts()].add(event) }
    }

    /// The apps in the order of apps.json; those that are not in it follow.
    package var names: [String] {
        let known = registry.apps.map(\.name)
        return known + tallies.keys.filter { !known.contains($0) }.sorted()
    }

    /// nil for an app that is not in apps.json.
    package func rollout(of name: String) -> Rollout? { registry.find(resource: name)?.rollout }

    package func judgement(of name: String) -> (mayGrow: Bool, why: String) {
        guard let app = registry.find(resource: name) else { return (false, "not in apps.json") }
        return rule.judge(tallies[name] ?? RolloutTally(), app.rollout)
    }

    /// The members of `rollout --json` before those of every report.
    var members: [Facts.Member] {
        let apps = names.map { facts(of: $0) }
        return [("apps", .list(apps)), ("events", .count(read)), ("unreadable", .count(unreadable))]
    }

    private func facts(of name: String) -> Facts {
        func percent(_ parts: Int64?) -> Facts { parts.map { .number(Rollout.percentText($0)) } ?? .null }
        let (tally, rollout) = (tallies[name] ?? RolloutTally(), rollout(of: name))
        let (mayGrow, why) = judgement(of: name)
        return [
            "app": .text(name), "mode": .textOrNull(rollout?.mode.rawValue),
            "percent": percent(rollout?.parts), "successes": .count(tally.successes), "failures": .count(tally.failed),
            "failuresByReason": .counts(tally.failures),
            "notAdmitted": .count(tally.notAdmitted), "failureRate": Self.rate(tally.failed, of: tally.decided),
            "attestations": [
                "decided": .count(tally.attested), "failed": .count(tally.attestationsFailed),
                "failureRate": Self.rate(tally.attestationsFailed, of: tally.attested),
            ],
            "mayGrow": .flag(mayGrow),
            "mayGrowTo": percent(mayGrow ? rollout.flatMap { GrowthRule.next(after: $0.parts) } : nil),
            "why": .text(why),
        ]
    }

    /// Percent, or null.
    private static func rate(_ failed: Int, of decided: Int) -> Facts {
        RolloutTally.rate(failed, of: decided).map { .number(String($0)) } ?? .null
    }
}
