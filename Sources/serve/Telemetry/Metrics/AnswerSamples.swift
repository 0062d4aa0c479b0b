internal import AppCheck
internal import Pipeline

/// The tally of answers as series.
struct AnswerSamples {
    /// The app of a request that names none.
    private static let unknown = "unknown"
    /// A verb that is not served.
    private static let otherVerb = "other"

    /// The parts by which the series of a family differ; those that are not its labels are the same in all.
    private struct Series: Hashable {
        var app: Int32 = -1
        var verb = -1
        var event: AnswerCounts.Event
    }

    private var apps: [String]
    private var counts: [String: [Series: Int]] = [:]
    /// Metrics of receipts by the apps' places; -1 = unknown.
    private var risk: [Int32: Histogram] = [:]

    /// - Parameter configured: ids of apps, whose counts are there from the start.
    init(_ tally: AnswerTally, apps configured: [String]) {
        var tally = tally
        let places = tally.places(of: configured)
        apps = tally.apps
        begin(places)
        for (key, count) in tally.counts { add(key, count) }
    }

    /// The app's id in a ledger's name of it; empty = none.
    static func label(ofAppNamed name: String) -> String {
        name.isEmpty ? unknown : String(name.split(separator: "/").last ?? "")
    }

    /// The families in their order.
    var all: [(family: MetricFamily, samples: [MetricSample])] {
        MetricFamily.ofRequests.map { family in
            let series = counts[family.base] ?? [:]
            let named = series.map { series, count in (labels: labels(of: series), series: series, count: count) }
            let sorted = named.sorted { one, other in
                if one.series.app != other.series.app { return one.series.app < other.series.app }
                if one.series.verb != other.series.verb { return one.series.verb < other.series.verb }
                return one.labels.lexicographicallyPrecedes(other.labels)
            }
            return (family, sorted.map { MetricSample($0.labels, whole: $0.count) })
        }
    }

    /// The metrics that receipts brought, by app.
    var riskMetrics: [MetricSample] {
        risk.sorted { $0.key < $1.key }.map { app, metrics in
            MetricSample([app < 0 ? Self.unknown : apps[Int(app)]], .histogram(metrics, unit: 1))
        }
    }

    /// Counters that alerts watch are 0 before their first event: a jump from nothing to 1 is not an increase.
    private mutating func begin(_ places: [Int32]) {
        let watched: [AnswerCounts.Event] = [.accepted, .deferred(.noActiveKey)]
        // Most apps have no debug tokens, and no alert is about them.
        for verb in Verb.allCases where verb.token != .debug && verb.content != .receipt {
            // A path that names a project names no app.
            for app in verb.resource == .project ? [-1] : places {
                for event in watched { add(AnswerCounts.Key(app: app, verb: verb, event: event), 0) }
            }
            add(AnswerCounts.Key(app: -1, verb: verb, event: .duplicate), 0)
        }
        add(AnswerCounts.Key(app: -1, verb: nil, event: .replyIgnored), 0)
        for reason in DeadLetterReason.allCases {
            add(AnswerCounts.Key(app: -1, verb: nil, event: .deadLetter(reason)), 0)
        }
    }

    private mutating func add(_ key: AnswerCounts.Key, _ count: Int) {
        var series = Series(event: key.event)
        // An app may itself be called `unknown`.
        let app = key.app >= 0 && apps[Int(key.app)] == Self.unknown ? -1 : key.app
        let verb = key.verb.flatMap { Verb.allCases.firstIndex(of: $0) } ?? Verb.allCases.count
        let family: MetricFamily
        switch key.event {
        case .accepted, .refused, .deferred:
            (family, series.app, series.verb) = (.requests, app, verb)
        case .duplicate: (family, series.verb) = (.duplicates, verb)
        case .deadLetter: family = .deadLetters
        case .minted: (family, series.app) = (.minted, app)
        case .rollout: (family, series.app) = (.rollout, app)
        case .debugToken: (family, series.app) = (.debugTokens, app)
        case .restored: (family, series.app) = (.restored, app)
        case .tokenUse: (family, series.app) = (.tokenUses, app)
        case .outdated: (family, series.app) = (.outdated, app)
        case .replyIgnored: family = .repliesIgnored
        case .risk(let bucket): return risk[app, default: .riskMetric].add(count: count, in: Int(bucket))
        case .riskSum: return risk[app, default: .riskMetric].add(sum: Int64(count))
        }
        counts[family.base, default: [:]][series, default: 0] += count
    }

    private func labels(of series: Series) -> [String] {
        let app = series.app < 0 ? Self.unknown : apps[Int(series.app)]
        var verb: String {
            Verb.allCases.indices.contains(series.verb) ? Verb.allCases[series.verb].rawValue : Self.otherVerb
        }
        return switch series.event {
        case .accepted: [app, verb, "accepted", ""]
        case .refused(let reason): [app, verb, "refused", reason.code]
        case .deferred(let reason): [app, verb, "deferred", reason.code]
        case .duplicate: [verb]
        case .deadLetter(let reason): [reason.rawValue]
        case .minted(let limitedUse, let algorithm): [app, limitedUse ? "limited_use" : "session", algorithm.rawValue]
        case .rollout(let mode, let isInside): [app, mode.rawValue, isInside ? "admitted" : "not_admitted"]
        case .restored, .outdated, .debugToken: [app]
        case .replyIgnored, .risk, .riskSum: []
        case .tokenUse(let use): [app] + use.labels
        }
    }
}
