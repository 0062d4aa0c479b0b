import AppAttest
import AppCheck
import DeviceLab
import Streams
import Testing
import Traffic

@Suite struct SimulatedTrafficTests {
    private func traffic(lanes: Int, verbs: Set<Verb>, seals: ExchangeSeals? = nil) throws -> SimulatedTraffic {
        var settings = SimulationSettings(devices: 20, records: 500)
        settings.start = TrafficLab.noon.milliseconds
        settings.faultShare = 0.3
        settings.verbs = verbs
        return SimulatedTraffic(
            apps: try TrafficLab.apps(3),
            ca: TrafficLab.ca,
            settings: settings,
            seals: seals,
            topic: TrafficLab.topic(partitions: 4),
            lanes: lanes
        )
    }

    /// All records of a traffic, so many at a time.
    private func all(_ traffic: SimulatedTraffic, by limit: Int) -> [InboundRecord] {
        var records: [InboundRecord] = []
        while case let more = traffic.make(limit), !more.isEmpty { records += more }
        return records
    }

    @Test(arguments: [(1, 8192), (4, 8192), (4, 130), (3, 1)])
    func `records depend neither on the threads that make them nor on their chunks`(lanes: Int, limit: Int) throws {
        let records = all(try traffic(lanes: lanes, verbs: SimulationSettings.plainVerbs), by: limit)
        #expect(records.count == 500)
        #expect(records == all(try traffic(lanes: 2, verbs: SimulationSettings.plainVerbs), by: 500))
    }

    @Test func `challenge calls have no key, and go round robin over the partitions`() throws {
        let seals = ExchangeSeals(KeyRings(), sealsChallenges: false)
        let traffic = try traffic(lanes: 2, verbs: [.generateAppAttestChallenge], seals: seals)
        let calls = all(traffic, by: 500).filter { $0.key == nil }
        #expect(calls.count > 400)
        #expect(calls.map(\.partition) == (0..<Int32(calls.count)).map { $0 % 4 })
    }

    @Test func `each record has its topic and the next offset of its partition`() throws {
        var next: [Int32: Int64] = [:]
        for record in all(try traffic(lanes: 2, verbs: SimulationSettings.plainVerbs), by: 100) {
            #expect(record.topic == "requests")
            #expect(record.partition == Int32(record.key?.first ?? 0) % 4)
            #expect(record.offset == next[record.partition, default: 0])
            next[record.partition] = record.offset + 1
        }
        #expect(next.values.reduce(0, +) == 500)
    }
}
