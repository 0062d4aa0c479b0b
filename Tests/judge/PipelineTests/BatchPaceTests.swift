import Testing

@testable import Pipeline

@Suite
struct BatchPaceTests {
    private static func commit(_ times: Int, _ timeShare: Double, _ pace: inout BatchPace) {
        for _ in 0..<times { pace.committed(pace.records, timeShare: timeShare) }
    }

    @Test(arguments: [(10_000, 0.4, 2_000), (10_000, 1, 5_000), (300, 0.5, 75), (10_000, 0, 50), (60, 0, 50)])
    func `a batch that timed out is followed by half of the acknowledged records`(
        count: Int,
        share: Double,
        records: Int
    ) {
        var pace = BatchPace(most: 10_000)
        pace.ranOut(count, acknowledged: share)
        #expect(pace.records == records)
    }

    @Test(arguments: [-1, .nan, .infinity, 7])
    func `no acknowledged share makes a batch larger, or empty`(share: Double) {
        var pace = BatchPace(most: 10_000)
        pace.ranOut(1_000, acknowledged: share)
        #expect((50...500).contains(pace.records))
        pace.ranOut(50, acknowledged: 1)
        #expect(pace.records == 50)
    }

    @Test func `batches grow to the limit again, a step after every twenty quick commits, and not beyond`() {
        var pace = BatchPace(most: 700)
        pace.ranOut(400, acknowledged: 1)
        #expect(pace.records == 200)
        Self.commit(19, 0.1, &pace)
        #expect(pace.records == 200)
        Self.commit(1, 0.1, &pace)
        #expect(pace.records == 400)
        Self.commit(20, 0, &pace)
        #expect(pace.records == 700)
        Self.commit(100, 0, &pace)
        #expect(pace.records == 700)
    }

    @Test func `one slow commit restarts the count`() {
        var pace = BatchPace(most: 700)
        pace.ranOut(400, acknowledged: 1)
        Self.commit(19, 0.1, &pace)
        Self.commit(1, 0.2, &pace)
        Self.commit(19, 0.1, &pace)
        #expect(pace.records == 200)
    }

    @Test func `batches shrink before they time out`() {
        var pace = BatchPace(most: 10_000)
        pace.committed(8_000, timeShare: 0.5)
        #expect(pace.records == 4_000)
    }

    @Test func `small batches say nothing about larger ones`() {
        var pace = BatchPace(most: 10_000)
        pace.committed(100, timeShare: 0.9)
        #expect(pace.records == 10_000)
        pace.ranOut(8_000, acknowledged: 1)
        for _ in 0..<100 { pace.committed(2_000, timeShare: 0) }
        #expect(pace.records == 4_000)
    }

    @Test func `a limit below fifty does not change`() {
        var pace = BatchPace(most: 7)
        pace.ranOut(7, acknowledged: 0)
        #expect(pace.records == 7)
    }

    /// A broker that takes 300 records in a transaction's time: one abort is the only one.
    @Test func `a broker that is slow all the time sees one abort`() {
        var pace = BatchPace(most: 10_000)
        var aborts = 0
        for _ in 0..<1_000 {
            let count = pace.records
            if count > 300 {
                aborts += 1
                pace.ranOut(count, acknowledged: 300 / Double(count))
            } else {
                pace.committed(count, timeShare: Double(count) / 300)
            }
        }
        #expect(aborts == 1)
        #expect((50...100).contains(pace.records))
    }
}
