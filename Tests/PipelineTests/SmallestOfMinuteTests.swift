internal import Testing

@testable internal import Pipeline

struct SmallestOfMinuteTests {
    @Test func `the smallest of the last one or two minutes counts, however often it is asked for`() {
        var smallest = SmallestOfMinute()
        #expect(smallest.value(at: 0) == nil)
        smallest.add(-6, at: 0)
        smallest.add(3, at: 1_000)
        for second in 1..<60 as Range<Int64> { #expect(smallest.value(at: second * 1_000) == -6) }
        smallest.add(5, at: 61_000)
        for second in 62..<119 as Range<Int64> { #expect(smallest.value(at: second * 1_000) == -6) }
        #expect(smallest.value(at: 120_000) == 5, "the first minute is over for a minute")
    }

    @Test func `nothing is left two minutes after the last value`() {
        var smallest = SmallestOfMinute()
        smallest.add(-6, at: 0)
        for second in 0...200 as ClosedRange<Int64> {
            let value = smallest.value(at: second * 1_000)
            #expect(second < 120 ? value == -6 : value == nil, "\(second)")
        }
    }
}
