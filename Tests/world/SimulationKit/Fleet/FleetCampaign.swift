internal import Pipeline
internal import Streams

/// Many seeds over a few streams of requests, whose calm answers are found once.
package final class FleetCampaign {
    /// The result of a seed.
    package struct Report: Sendable {
        package let seed: UInt64
        package let complaints: [String]
    }

    private struct Stream {
        let records: [InboundRecord]
        let refused: Set<RecordPlace>
        let calm: FleetReading
    }

    /// What commands beside the fleets have done.
    package private(set) var done: [CommandWork: Int] = [:]
    /// How many assertions of ``runReplaced(_:change:)`` were accepted after the replacement.
    package internal(set) var acceptedAfterReplacement = 0
    private static let streamCount: UInt64 = 24
    let traffic: FleetTraffic
    private let scratch: LaneScratch
    private let delivery: SimulationPlan.Delivery
    private let requests: Int
    private let commands: Double
    private var streams: [UInt64: Stream] = [:]
    package let counts = FaultCounts()

    /// - Parameters:
    ///   - requests: of one stream.
    ///   - commands: the share of them that are an operator's.
    package init(
        _ traffic: FleetTraffic,
        delivery: SimulationPlan.Delivery = .exactlyOnce,
        requests: Int = 22,
        commands: Double = 0
    ) throws {
        self.traffic = traffic
        self.delivery = delivery
        self.requests = requests
        self.commands = commands
        scratch = try traffic.scratch()
    }

    /// Requests among which are Apple's answers and commands that forget keys.
    package static func receipts(
        _ traffic: FleetTraffic,
        delivery: SimulationPlan.Delivery = .exactlyOnce
    ) throws -> FleetCampaign {
        try FleetCampaign(traffic, delivery: delivery, requests: 32, commands: 0.15)
    }

    /// Runs one seed and says what does not hold.
    ///
    /// - Parameter change: makes the plan worse than the world is.
    package func run(_ seed: UInt64, change: (inout SimulationPlan) -> Void = { _ in }) throws -> Report {
        let stream = try stream(seed % Self.streamCount)
        var plan = SimulationPlan.rough(seed: seed, delivery: delivery)
        plan.refused = stream.refused
        change(&plan)
        let fleet = fleet(plan, stream.records)
        guard fleet.run() else {
            return Report(seed: seed, complaints: fleet.broker.violations + ["not drained in a calm world"])
        }
        var complaints = try FleetCheck(fleet, calm: stream.calm).complaints
        if let readers = fleet.readers {
            readers.finish()
            done.merge(readers.done, uniquingKeysWith: +)
            complaints += readers.complaints
        }
        return Report(seed: seed, complaints: complaints)
    }

    func fleet(_ plan: SimulationPlan, _ records: [InboundRecord]) -> SimulatedFleet {
        SimulatedFleet(plan, records: records, settings: traffic.settings, scratch: scratch, counts: counts)
    }

    private func stream(_ number: UInt64) throws -> Stream {
        if let known = streams[number] { return known }
        let partitions = Int(1 + number % 4)
        let records = try traffic.records(requests, partitions: partitions, seed: 1_000 + number, commands: commands)
        // In every third stream some results are refused by the broker, whenever they are tried.
        let poison = number % 3 == 0 ? [records[requests / 3], records[requests / 2]] : []
        let refused = Set(poison.map { RecordPlace(partition: $0.partition, offset: $0.offset) })
        var plan = SimulationPlan.calm(delivery: delivery)
        plan.refused = refused
        let fleet = SimulatedFleet(plan, records: records, settings: traffic.settings, scratch: scratch)
        guard fleet.run() else { throw LoopRun.Unfinished() }
        let stream = Stream(records: records, refused: refused, calm: try FleetReading(fleet.broker))
        streams[number] = stream
        return stream
    }
}
