internal import AppCheck
internal import JSON
internal import Settings

/// The state of each app's rollout, from its events.
struct RolloutReport {
    private let registry: Registry
    let rule: GrowthRule
    /// Events before this time are left out; milliseconds since 1970.
    private let since: Int64?
    private let isDetailed: Bool
    /// By the app's own name, or the event's if no app has it.
    private(set) var tallies: [String: RolloutTally] = [:]
    /// By the same names; only of a detailed report.
    private(set) var facts: [String: RolloutFacts] = [:]
    private(set) var events = 0
    /// Whether there was an event, of any time.
    private(set) var hasRead = false
    /// Records that were no events.
    private(set) var unreadable = 0

    /// - Parameter isDetailed: whether devices and days are counted too, for a page.
    init(_ registry: Registry, rule: GrowthRule, since: Int64? = nil, isDetailed: Bool = false) {
        (self.registry, self.rule) = (registry, rule)
        (self.since, self.isDetailed) = (since, isDetailed)
        for app in registry.apps { tallies[app.name] = RolloutTally() }
    }

    /// - Parameter value: a record's of the events topic.
    mutating func add(_ value: [UInt8]?) {
        guard let event = RolloutEvent(value) else { return unreadable += 1 }
        hasRead = true
        if let since, event.at ?? .min < since { return }
        events += 1
        let app = registry.find(resource: event.app)
        let name = app?.name ?? event.app
        tallies[name, default: RolloutTally()].add(event, parts: app?.rollout.parts)
        if isDetailed { facts[name, default: RolloutFacts()].add(event) }
    }

    /// In the order of apps.json; apps that are not in it follow.
    var names: [String] {
        let known = registry.apps.map(\.name)
        return known + tallies.keys.filter { !known.contains($0) }.sorted()
    }

    /// nil for an app that is not in apps.json.
    func rollout(of name: String) -> Rollout? { registry.find(resource: name)?.rollout }

    func judgement(of name: String) -> (mayGrow: Bool, why: String) {
        guard let app = registry.find(resource: name) else { return (false, "not in apps.json") }
        return rule.judge(tallies[name] ?? RolloutTally(), app.rollout)
    }

    // MARK: For people

    var text: String {
        var table = TextTable([.left, .left, .right, .right, .right, .right, .right])
        table.add("app", "mode", "share", "successes", "failures", "failed", "not admitted", "may grow")
        for name in names {
            let tally = tallies[name] ?? RolloutTally()
            let rollout = registry.find(resource: name)?.rollout
            let (mayGrow, why) = judgement(of: name)
            table.add([
                name.printable, rollout?.mode.rawValue ?? "-",
                rollout.map { Rollout.percentText($0.parts) + " %" } ?? "-", tally.successes.grouped,
                tally.failed.grouped, RolloutTally.rate(tally.failed, of: tally.decided).map(PercentFigure.text) ?? "-",
                tally.notAdmitted.grouped, (mayGrow ? "yes: " : "no: ") + why,
            ])
        }
        return [table.text, failures].compactMap { $0 }.joined(separator: "\n\n")
    }

    /// By reason, the most frequent first; nil without any.
    private var failures: String? {
        var table = TextTable([.left, .left, .right])
        table.add("app", "failed for", "times")
        for name in names {
            for (reason, count) in Self.sorted(tallies[name]?.failures ?? [:]) {
                table.add(name.printable, reason.printable, count.grouped)
            }
        }
        return tallies.values.contains { $0.failed > 0 } ? table.text : nil
    }

    private static func sorted(_ counts: [String: Int]) -> [(String, Int)] {
        counts.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }.map { ($0.key, $0.value) }
    }

    // MARK: For tools

    /// One JSON object and a newline.
    var json: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("apps")
        json.beginArray()
        for name in names { write(name, into: &json) }
        json.endArray()
        json.key("events")
        json.value(events)
        json.key("unreadable")
        json.value(unreadable)
        json.endObject()
        json.newline()
        return json.takeBytes()
    }

    private func write(_ name: String, into json: inout JSONWriter) {
        let tally = tallies[name] ?? RolloutTally()
        let rollout = registry.find(resource: name)?.rollout
        let (mayGrow, why) = judgement(of: name)
        json.beginObject()
        json.key("app")
        json.string(name)
        json.key("mode")
        if let rollout { json.string(rollout.mode.rawValue) } else { json.null() }
        json.key("percent")
        if let rollout { json.raw(Array(Rollout.percentText(rollout.parts).utf8)) } else { json.null() }
        json.key("successes")
        json.value(tally.successes)
        json.key("failures")
        json.value(tally.failed)
        json.key("failuresByReason")
        json.beginObject()
        for (reason, count) in tally.failures.sorted(by: { $0.key < $1.key }) {
            json.key(named: reason)
            json.value(count)
        }
        json.endObject()
        json.key("notAdmitted")
        json.value(tally.notAdmitted)
        Self.write("failureRate", RolloutTally.rate(tally.failed, of: tally.decided), into: &json)
        json.key("attestations")
        json.beginObject()
        json.key("decided")
        json.value(tally.attested)
        json.key("failed")
        json.value(tally.attestationsFailed)
        Self.write("failureRate", RolloutTally.rate(tally.attestationsFailed, of: tally.attested), into: &json)
        json.endObject()
        json.key("mayGrow")
        json.value(mayGrow)
        json.key("mayGrowTo")
        let next = mayGrow ? rollout.flatMap { GrowthRule.next(after: $0.parts) } : nil
        if let next { json.raw(Array(Rollout.percentText(next).utf8)) } else { json.null() }
        json.key("why")
        json.string(why)
        json.endObject()
    }

    /// Percent, or null.
    private static func write(_ name: StaticString, _ percent: Double?, into json: inout JSONWriter) {
        json.key(name)
        if let percent { json.raw(Array(String(percent).utf8)) } else { json.null() }
    }
}
