package import AppAttest
package import DeviceLab
internal import Dispatch
package import Streams
internal import Synchronization
internal import Threads

/// Makes a simulation's records in order, on several threads, a chunk at a time.
///
/// The apps take turns: record i belongs to app i mod n, and to that app's own fleet.
package final class SimulatedTraffic {
    /// Some milliseconds of work: large enough to distribute, small enough for memory.
    package static let chunk = 8192
    private static let grain = 64

    private let settings: SimulationSettings
    private let lanes: [SimulationLane]
    private let plans: [SimulationPlan]
    /// The devices of each plan that have attested.
    private var rosters: [DeviceRoster]
    private var topic: RequestTopic
    /// Records made so far.
    package private(set) var made = 0

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
        (self.settings, self.topic) = (settings, topic)
        let plans = SimulationPlan.plans(Array(apps.prefix(settings.devices)), ca, settings)
        self.plans = plans
        rosters = plans.map { _ in DeviceRoster() }
        self.lanes = (0..<max(1, lanes)).map { _ in SimulationLane(plans, seals, settings.seed) }
    }

    /// Makes the next records; none at the end.
    ///
    /// - Parameters:
    ///   - limit: records at most.
    ///   - clock: the devices' clock, where it is not the plan's.
    package func make(_ limit: Int = chunk, clock: EvaluationTime? = nil) -> [InboundRecord] {
        let range = made..<min(settings.records, made + limit)
        made = range.upperBound
        var records = unplaced(range, clock)
        for index in records.indices { topic.place(&records[index]) }
        return records
    }

    private func unplaced(_ range: Range<Int>, _ clock: EvaluationTime?) -> [InboundRecord] {
        addDevices(upTo: range.upperBound)
        let grains = (range.count + Self.grain - 1) / Self.grain
        return distribute(grains) { lane, grain in
            let start = range.lowerBound + grain * Self.grain
            return lane.make(start..<min(range.upperBound, start + Self.grain), clock: clock)
        }.flatMap { $0 }
    }

    /// Makes the keys of the devices that the records before `index` need: a device's first record is its attestation.
    private func addDevices(upTo index: Int) {
        let turns = (index + plans.count - 1) / plans.count
        let missing = plans.indices.flatMap { which in
            (rosters[which].blockCount..<max(rosters[which].blockCount, plans[which].fleet.blocks(forDevices: turns)))
                .map { (plan: which, block: $0) }
        }
        guard !missing.isEmpty else { return }
        let blocks = distribute(missing.count) { lane, index in
            lane.devices(missing[index].block, of: missing[index].plan)
        }
        for (place, block) in zip(missing, blocks) { rosters[place.plan].append(block) }
        for lane in lanes { lane.rosters = rosters }
    }

    /// Lanes take pieces of work from a common cursor.
    ///
    /// - Returns: what was made of each piece, in the order of the pieces.
    private func distribute<Made: Sendable>(
        _ pieces: Int,
        _ work: @Sendable (SimulationLane, Int) -> Made
    ) -> [Made] {
        let cursor = Atomic<Int>(0)
        let made = Locked([Made?](repeating: nil, count: pieces))
        let lanes = lanes
        DispatchQueue.concurrentPerform(iterations: lanes.count) { lane in
            while true {
                let piece = cursor.add(1, ordering: .relaxed).oldValue
                guard piece < pieces else { return }
                let result = work(lanes[lane], piece)
                made.withLock { $0[piece] = result }
            }
        }
        return made.withLock { $0.compactMap(\.self) }
    }
}
