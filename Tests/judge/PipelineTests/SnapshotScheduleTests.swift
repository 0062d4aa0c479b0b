import Testing

@testable import Pipeline

@Suite("The order of copies of ledgers")
struct SnapshotScheduleTests {
    private static let hour: Int64 = 3_600_000

    @Test func `a copy that was read is as old as it is; half a day later another one is due`() {
        var schedule = SnapshotSchedule()
        schedule.noteCopied(0, at: -3 * Self.hour)
        schedule.note(4, of: 0)
        func next(_ hours: Int64) -> Int32? { schedule.next(at: hours * Self.hour, pause: Self.hour) { _ in 100 } }
        #expect(next(1) == nil && next(8) == nil, "less than a twentieth has changed")
        #expect(next(9) == 0)
        schedule.forget([0])
        schedule.note(4, of: 0)
        #expect(next(1) == 0, "one that does not count is none")
    }

    @Test func `the longest tail comes first, after the pause and once a twentieth has changed`() {
        var schedule = SnapshotSchedule()
        for partition in 0..<3 as Range<Int32> {
            schedule.noteCopied(partition, at: 0)
            schedule.note(4 + Int(partition), of: partition)
        }
        #expect(schedule.next(at: Self.hour - 1, pause: Self.hour) { _ in 100 } == nil)
        #expect(schedule.next(at: Self.hour, pause: Self.hour) { _ in 100 } == 2)
        #expect(schedule.next(at: Self.hour, pause: Self.hour) { $0 == 2 ? nil : 100 } == 1, "no whole ledger")
    }
}
