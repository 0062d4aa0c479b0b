internal import AppAttest
package import AppCheck

/// The risk metrics of each app's devices, from the events topic.
package struct RiskReport {
    /// An app's devices in an environment: Apple counts the two apart.
    private struct Name: Hashable {
        let app: String
        let environment: Environment
    }

    /// The report's part about one app.
    package struct Section {
        package let name: String
        /// The same for people.
        package let label: String
        package let limit: UInt16
        package let mode: RiskPolicy.Mode?
        package let now: RiskDistribution
        package let before: RiskDistribution
        let devices: [RiskFacts.Device]

        package var highest: [RiskFacts.Device] { Array(devices.prefix(RiskReport.mostDevices)) }
    }

    private let registry: Registry
    private let limit: UInt16?
    private let since: Int64?
    private var facts: [Name: RiskFacts] = [:]
    package private(set) var events = 0
    /// Events of other kinds, which this report leaves out.
    package private(set) var others = 0
    package private(set) var unreadable = 0

    static let standardLimit: UInt16 = 5
    static let mostDevices = 10

    /// - Parameters:
    ///   - limit: of apps without `risk.above`; nil = 5.
    ///   - since: events before this time are left out; milliseconds since 1970.
    package init(_ registry: Registry, limit: UInt16? = nil, since: Int64? = nil) {
        (self.registry, self.limit, self.since) = (registry, limit, since)
    }

    package mutating func add(_ value: [UInt8]?) {
        guard let event = Event(value), event.kind != .risk || event.risk != nil else { return unreadable += 1 }
        guard let risk = event.risk else { return others += 1 }
        if let since, risk.mark.at < since { return }
        events += 1
        let app = registry.find(resource: event.app)?.name ?? event.app
        facts[Name(app: app, environment: risk.environment), default: RiskFacts()].add(risk.device, risk.mark)
    }

    package var hasRead: Bool { read > 0 }
    package var read: Int { events + others }

    /// When the newest event was; nil without one.
    var end: Int64? { facts.values.map(\.newest).max() }

    /// The apps in the order of apps.json; those that are not in it follow.
    package var sections: [Section] {
        guard let end else { return [] }
        let known = registry.apps.map(\.name)
        func place(_ name: Name) -> (Int, String, String) {
            (known.firstIndex(of: name.app) ?? known.count, name.app, name.environment == .production ? "" : "d")
        }
        return facts.sorted { place($0.key) < place($1.key) }.map { name, facts in
            let app = registry.find(resource: name.app)
            let limit = app?.risk.above ?? self.limit ?? Self.standardLimit
            let devices = facts.counting(at: end)
            let ending = name.environment == .production ? "" : " (development)"
            return Section(
                name: name.app + ending,
                label: registry.label(of: name.app) + ending,
                limit: limit,
                mode: app?.risk.mode,
                now: RiskDistribution(devices.map(\.newest.metric), limit: limit),
                before: RiskDistribution(facts.before(end), limit: limit),
                devices: devices
            )
        }
    }

    /// The members of `risk --json` before those of every report.
    var members: [Facts.Member] {
        let apps = sections.map { section -> Facts in
            [
                "app": .text(section.name), "mode": .textOrNull(section.mode?.rawValue),
                "above": .count(section.limit), "now": Self.facts(section.now),
                "weekBefore": Self.facts(section.before), "highest": .list(section.highest.map(Self.facts)),
            ]
        }
        return [
            ("apps", .list(apps)), ("events", .count(events)), ("others", .count(others)),
            ("unreadable", .count(unreadable)),
        ]
    }

    private static func facts(_ distribution: RiskDistribution) -> Facts {
        let counts: [Facts.Member] = zip(RiskDistribution.names, distribution.counts).map { ($0, .count($1)) }
        return [
            "devices": .count(distribution.total), "above": .count(distribution.above), "byMetric": .object(counts),
        ]
    }

    private static func facts(_ device: RiskFacts.Device) -> Facts {
        [
            "device": .text(device.name), "metric": .count(device.metric),
            "weekBefore": device.before.map { .count($0) } ?? .null, "at": .text(UTCText.of(device.newest.at)),
        ]
    }
}
