internal import DeviceLab
internal import Testing

@testable internal import Reports

@Suite("Risk metrics of devices")
struct RiskFactsTests {
    private static let week: Int64 = 7 * 86_400_000

    /// The same answers by a look at everything.
    private struct Reference {
        private var marks: [UInt64: [RiskFacts.Mark]] = [:]

        mutating func add(_ device: UInt64, _ mark: RiskFacts.Mark) { marks[device, default: []].append(mark) }

        private func last(_ device: UInt64, at time: Int64) -> RiskFacts.Mark? {
            let sorted = (marks[device] ?? []).sorted { ($0.at, $0.metric) < ($1.at, $1.metric) }
            return sorted.last { $0.at <= time }
        }

        private func before(_ device: UInt64, _ end: Int64) -> UInt16? {
            let then = end - RiskFacts.weekMilliseconds
            return last(device, at: then).flatMap { $0.at >= then - RiskFacts.lifeMilliseconds ? $0.metric : nil }
        }

        func counting(at end: Int64) -> [RiskFacts.Device] {
            let devices = marks.keys.compactMap { device -> RiskFacts.Device? in
                guard let newest = last(device, at: .max), newest.at >= end - RiskFacts.lifeMilliseconds else {
                    return nil
                }
                return RiskFacts.Device(tag: device, newest: newest, before: before(device, end))
            }
            return devices.sorted { left, right in
                if left.newest.metric != right.newest.metric { return left.newest.metric > right.newest.metric }
                if left.newest.at != right.newest.at { return left.newest.at > right.newest.at }
                return left.tag < right.tag
            }
        }

        func before(_ end: Int64) -> [UInt16] { marks.keys.compactMap { before($0, end) } }
    }

    /// Few times and metrics, so that many are equal and stand on the edges.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `facts are those that a look at all events gives, in any order`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let (devices, grain) = (UInt64.random(in: 1...3, using: &random), [Self.week / 7, Self.week, 3_600_000])
        let step = grain[Int(seed % 3)]
        var (facts, reference) = (RiskFacts(), Reference())
        for count in 1...8 * Int.random(in: 1...15, using: &random) {
            let device = UInt64.random(in: 1...devices, using: &random)
            let metric = UInt16.random(in: 1...4, using: &random)
            let mark = RiskFacts.Mark(at: step * .random(in: 0...60, using: &random), metric: metric)
            facts.add(device, mark)
            reference.add(device, mark)
            guard count % 8 == 0 else { continue }
            for end in [facts.newest, facts.newest + step, facts.newest + 5 * Self.week] {
                #expect(facts.counting(at: end) == reference.counting(at: end))
                #expect(facts.before(end).sorted() == reference.before(end).sorted())
            }
        }
    }

    /// Milliseconds between two keys of one device: all of them in a week, or over a year.
    @Test(arguments: [1_000, -1_000, 300_000, -300_000] as [Int64])
    func `a hundred thousand keys of one device are counted`(step: Int64) {
        let (count, metrics) = (Int64(100_000), 1...UInt16(500))
        let times = (0..<count).map { step > 0 ? $0 * step : ($0 + 1 - count) * step }
        var facts = RiskFacts()
        for (place, time) in times.enumerated() {
            facts.add(7, RiskFacts.Mark(at: time, metric: metrics.lowerBound + UInt16(place % metrics.count)))
        }
        let end = (count - 1) * abs(step)
        #expect(facts.newest == end)
        let newest = RiskFacts.Mark(at: end, metric: step > 0 ? 500 : 1)
        // The last one at least a week before the newest.
        let late = end < Self.week ? nil : (end - Self.week) / abs(step)
        let before = late.map { UInt16((step > 0 ? $0 : count - 1 - $0) % 500) + 1 }
        #expect(facts.counting(at: end) == [RiskFacts.Device(tag: 7, newest: newest, before: before)])
        #expect(facts.before(end) == [before].compactMap { $0 })
    }
}
