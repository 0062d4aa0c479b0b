internal import AppAttest
internal import JSON
internal import Pipeline

extension Event {
    /// A metric with the device that has it; nil for an event of another kind, and where a part cannot be read.
    var risk: (environment: Environment, device: UInt64, mark: RiskFacts.Mark)? {
        guard kind == .risk, let device, let at,
            let metric = (root["metric"]?.integer).flatMap({ UInt16(exactly: $0) }),
            let environment = (root["environment"]?.string).flatMap({ Environment(rawValue: $0) })
        else { return nil }
        return (environment, device, RiskFacts.Mark(at: at, metric: metric))
    }
}

/// The metrics of one app's devices in one of Apple's environments, as of the newest event and as of a week before it.
package struct RiskFacts {
    static let weekMilliseconds: Int64 = 7 * 86_400_000
    /// Apple counts attestations of 30 days: an older metric says nothing any more.
    static let lifeMilliseconds: Int64 = 30 * 86_400_000

    struct Mark: Equatable {
        let at: Int64
        let metric: UInt16
    }

    package struct Device: Equatable {
        let tag: UInt64
        let newest: Mark
        /// What counted a week before the newest of all events.
        package let before: UInt16?

        package var name: String { Figure.device(tag) }
        package var metric: Int { Int(newest.metric) }
        /// UTC, to the minute.
        package var time: String { UTCText.of(newest.at, .minute) }
    }

    private var devices: [UInt64: Marks] = [:]
    private(set) var newest = Int64.min

    mutating func add(_ device: UInt64, _ mark: Mark) {
        newest = max(newest, mark.at)
        devices[device, default: Marks()].add(mark)
    }

    /// The devices whose metric counts, the highest first.
    ///
    /// - Parameter end: the newest event of all apps.
    func counting(at end: Int64) -> [Device] {
        let then = end - Self.weekMilliseconds
        return devices.compactMap { tag, marks -> Device? in
            guard let last = marks.last(at: .max), last.at >= end - Self.lifeMilliseconds else { return nil }
            return Device(tag: tag, newest: last, before: Self.metric(of: marks, at: then))
        }
        .sorted { ($0.newest.metric, $0.newest.at, $1.tag) > ($1.newest.metric, $1.newest.at, $0.tag) }
    }

    /// The metrics that counted a week before.
    func before(_ end: Int64) -> [UInt16] {
        devices.values.compactMap { Self.metric(of: $0, at: end - Self.weekMilliseconds) }
    }

    private static func metric(of marks: Marks, at time: Int64) -> UInt16? {
        guard let mark = marks.last(at: time), mark.at >= time - lifeMilliseconds else { return nil }
        return mark.metric
    }

    /// The marks of a device's last week, and the one before them, in no order.
    ///
    /// Those that have become too old go together: an account that attests all day may have a hundred thousand, and a
    /// look at all of them for each would take minutes.
    private struct Marks {
        private var marks: [Mark] = []
        /// The number at which the old ones go: twice what stayed the last time.
        private var limit = 0

        mutating func add(_ mark: Mark) {
            marks.append(mark)
            guard marks.count >= limit else { return }
            dropOld()
            limit = 2 * marks.count
        }

        private mutating func dropOld() {
            guard let newest = last(at: .max) else { return }
            let start = newest.at - RiskFacts.weekMilliseconds
            let before = last(at: start)
            marks.removeAll { $0.at <= start }
            if let before { marks.append(before) }
        }

        /// What counts at a time. Partitions are read beside each other; of one time the higher metric counts, whatever
        /// their order.
        func last(at time: Int64) -> Mark? {
            var last: Mark?
            for mark in marks where mark.at <= time {
                if let last, (last.at, last.metric) > (mark.at, mark.metric) { continue }
                last = mark
            }
            return last
        }
    }
}

/// How many devices have which metric.
package struct RiskDistribution: Equatable {
    package let counts: [Int]
    package let total: Int
    /// Devices with a metric above the limit.
    package let above: Int

    init(_ metrics: [UInt16], limit: UInt16) {
        var histogram = Histogram.riskMetric
        for metric in metrics { histogram.add(Int64(metric)) }
        counts = histogram.counts
        total = metrics.count
        above = metrics.count { $0 > limit }
    }

    /// `1.25 %`: devices above the limit, for a terminal.
    package var share: String { Figure.share(above, of: total).replacing(String(Figure.gap), with: " ") }

    /// The rows' names: those of the worker's own metric.
    package static let names: [String] = {
        let bounds = Histogram.riskMetric.bounds
        return bounds.indices.map { place in
            let (low, high) = (place == 0 ? 1 : bounds[place - 1] + 1, bounds[place])
            return low == high ? "\(high)" : "\(low) to \(high)"
        } + ["over \(bounds[bounds.count - 1])"]
    }()
}
