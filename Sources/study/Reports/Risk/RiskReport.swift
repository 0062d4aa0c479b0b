internal import AppAttest
package import AppCheck
internal import Settings

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

    /// - Parameter value: a record's of the events topic.
    package mutating func add(_ value: [UInt8]?) {
        switch RiskEvent.read(value) {
        case .unreadable: unreadable += 1
        case .other: others += 1
        case .risk(let event):
            if let since, event.at < since { return }
            events += 1
            let app = registry.find(resource: event.app)?.name ?? event.app
            facts[Name(app: app, environment: event.environment), default: RiskFacts()].add(event)
        }
    }

    package var hasRead: Bool { events + others > 0 }

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
                "app": .text(section.name), "mode": section.mode.map { .text($0.rawValue) } ?? .null,
                "above": .count(section.limit), "now": Self.facts(section.now),
                "weekBefore": Self.facts(section.before),
                "highest": .list(section.highest.map { $0.facts }),
            ]
        }
        return [
            ("apps", .list(apps)), ("events", .count(events)), ("others", .count(others)),
            ("unreadable", .count(unreadable)),
        ]
    }

    private static func facts(_ distribution: RiskDistribution) -> Facts {
        let counts = zip(RiskDistribution.names, distribution.counts).map { ($0, Facts.count($1)) }
        return [
            "devices": .count(distribution.total), "above": .count(distribution.above),
            "byMetric": .object(counts.map { (name: $0.0, value: $0.1) }),
        ]
    }
}

extension RiskReport.Section {
    /// One of the highest devices.
    package struct High {
        package let device: String
        package let metric: Int
        package let before: Int?
        let at: Int64

        /// UTC, to the minute.
        package var time: String { UTCText.of(at, .minute) }

        var facts: Facts {
            [
                "device": .text(device), "metric": .count(metric), "weekBefore": before.map { .count($0) } ?? .null,
                "at": .text(UTCText.of(at)),
            ]
        }
    }

    package var highest: [High] {
        devices.prefix(RiskReport.mostDevices).map { device in
            let digits = String(device.tag, radix: 16)
            return High(
                device: String(repeating: "0", count: 16 - digits.count) + digits,
                metric: Int(device.newest.metric),
                before: device.before.map { Int($0) },
                at: device.newest.at
            )
        }
    }

    /// `1.25 %`: devices above the limit, for a terminal.
    package static func share(_ distribution: RiskDistribution) -> String {
        Figure.share(distribution.above, of: distribution.total).replacing(String(Figure.gap), with: " ")
    }
}
