import Testing

@testable import ChaosKit

/// What a reader sees of a partition, by hand.
@Suite("The longest silence by cause")
struct ChaosSilenceTests {
    private typealias Sighting = ChaosSilences.Sighting
    private typealias Deed = ChaosSilences.Deed

    private static func longest(_ sightings: [Sighting], _ deeds: [Deed], end: Double = 100) -> [String: Double] {
        let silences = ChaosSilences(sightings.sorted { $0.at < $1.at }, deeds: deeds, end: end)
        return Dictionary(uniqueKeysWithValues: silences.rows.map { ($0.cause, $0.longestSeconds) })
    }

    /// Requests at some times and outcomes at others.
    private static func seen(_ requests: [Double], _ outcomes: [Double], partition: Int32 = 0) -> [Sighting] {
        requests.map { Sighting(.request, partition: partition, at: $0) }
            + outcomes.map { Sighting(.outcome, partition: partition, at: $0) }
    }

    @Test func `the time between two outcomes counts for the deed that it overlaps`() {
        let sightings = Self.seen([1, 1, 1, 1], [10, 10.25, 14, 14.5])
        let deeds = [Deed("kill", at: 10.5), Deed("pause", at: 20)]
        let longest = Self.longest(sightings, deeds)
        #expect(longest == [ChaosSilences.first: 9, ChaosSilences.before: 0.25, "kill": 3.75, "pause": 0])
        let later = Self.longest(sightings, [Deed("kill", at: 11.5)])
        #expect(later[ChaosSilences.before] == 3.75 && later["kill"] == 0.5, "it was silent already")
    }

    @Test func `a partition without waiting requests is idle, not silent`() {
        // Answered at once, then nothing is asked for ten seconds.
        let longest = Self.longest(Self.seen([1, 12], [1.5, 12.25]), [Deed("kill", at: 2)])
        #expect(longest == [ChaosSilences.first: 0.5, ChaosSilences.before: 0, "kill": 0.25])
    }

    @Test func `an outcome that is seen before its request leaves nothing waiting`() {
        let longest = Self.longest(Self.seen([1.125, 30], [1, 30.5]), [Deed("kill", at: 2)])
        #expect(longest == [ChaosSilences.first: 0, ChaosSilences.before: 0, "kill": 0.5])
    }

    @Test func `each partition is silent for itself`() {
        let one = Self.seen([1, 1, 1], [2, 3, 4])
        let other = Self.seen([1, 1], [2, 9], partition: 1)
        #expect(Self.longest(one + other, [Deed("kill", at: 2.5)])["kill"] == 7)
    }

    @Test func `what is still open in the end lasts until the end`() {
        #expect(Self.longest(Self.seen([1, 1], [2]), [Deed("kill", at: 1.5)], end: 40)["kill"] == 38)
    }

    @Test func `a silence that is old when a deed begins is an earlier one's`() {
        let sightings = Self.seen([1, 1, 1], [5, 25, 25.5])
        let deeds = [Deed("kill", at: 5.5), Deed("pause", at: 8), Deed("quota", at: 26)]
        let longest = Self.longest(sightings, deeds)
        #expect(longest["kill"] == 20 && longest["pause"] == 0.5 && longest["quota"] == 0, "\(longest)")
    }

    @Test func `deeds of one kind share a row, which has the longest of them`() throws {
        let sightings = Self.seen([1, 1, 1, 1, 1], [2, 3, 6, 11, 13])
        let deeds = [Deed("kill", at: 2.5), Deed("pause", at: 6), Deed("kill", at: 10.5)]
        let silences = ChaosSilences(sightings.sorted { $0.at < $1.at }, deeds: deeds, end: 20)
        #expect(silences["kill"] == .init(cause: "kill", runs: 2, longestSeconds: 3))
        #expect(silences["pause"] == .init(cause: "pause", runs: 1, longestSeconds: 5))
        #expect(silences["quota"] == nil)
        let table = """
            longest silence by cause       runs seconds
              until the first outcome         1     1.0
              before any deed                 1     0.0
              kill                            2     3.0
              pause                           1     5.0
            """
        #expect(silences.lines.joined(separator: "\n") == table)
    }
}
