package import AppAttest
package import DeviceLab
internal import Dispatch
package import Log
internal import Synchronization

/// Makes a simulation's records in order, on several threads, a chunk at a time.
///
/// The apps take turns: record i belongs to app i mod n, and to that app's own fleet.
package final class SimulatedTraffic {
    /// Some milliseconds of work: large enough to distribute, small enough for memory.
    package static let chunk = 8192
    private static let grain = 64

    private let settings: SimulationSettings
    private let lanes: [SimulationLane]
    private var topic: RequestTopic
    private var next = 0

    /// - Parameters:
    ///   - apps: at least one.
    ///   - seals: needed for the exchange's verbs.
    ///   - topic: where no record is placed yet.
    ///   - lanes: how many threads make records; the records do not depend on it.
    package init(
        apps: [SimulatedApp],
        ca: LabCA,
        settings: SimulationSettings,
        seals: ExchangeSeals?,
        topic: RequestTopic,
        lanes: Int
    ) {
        precondition(!apps.isEmpty && settings.records >= settings.devices, "each device attests, for an app")
        self.settings = settings
        self.topic = topic
        let plans = SimulationPlan.plans(Array(apps.prefix(settings.devices)), ca, settings)
        self.lanes = (0..<max(1, lanes)).map { _ in SimulationLane(plans, seals, settings.seed) }
    }

    /// Records made so far.
    package var made: Int { next }

    /// Makes the next records; none at the end.
    ///
    /// - Parameters:
    ///   - limit: records at most.
    ///   - clock: the devices' clock, where it is not the plan's.
    package func make(_ limit: Int = chunk, clock: EvaluationTime? = nil) -> [InboundRecord] {
        let range = next..<min(settings.records, next + limit)
        next = range.upperBound
        return unplaced(range, clock).map { record in
            var record = record
            topic.place(&record)
            return record
        }
    }

    /// Lanes take grains from a common cursor; what they made is put in order afterwards.
    private func unplaced(_ range: Range<Int>, _ clock: EvaluationTime?) -> [InboundRecord] {
        let cursor = Atomic<Int>(0)
        let lanes = lanes
        DispatchQueue.concurrentPerform(iterations: lanes.count) { lane in
            while true {
                let grain = cursor.add(1, ordering: .relaxed).oldValue
                let start = range.lowerBound + grain * Self.grain
                guard start < range.upperBound else { return }
                lanes[lane].make(start..<min(range.upperBound, start + Self.grain), clock: clock)
            }
        }
        return lanes.flatMap { $0.takeGrains() }.sorted { $0.start < $1.start }.flatMap(\.records)
    }
}
