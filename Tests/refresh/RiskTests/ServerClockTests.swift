internal import AppAttest
internal import Risk
internal import Testing

@Suite("Our clock beside Apple's")
struct ServerClockTests {
    /// A clock after one answer whose date is so far behind ours.
    private func clock(_ offset: Int64, _ outcome: CallOutcome = .absent) -> ServerClock {
        var clock = ServerClock()
        _ = clock.note(outcome, serverTime: Sample.at(-offset), at: Sample.start)
        return clock
    }

    @Test(arguments: [0, 300_000, -300_000] as [Int64], [1, -1] as [Int64])
    func `it is right up to five minutes, either way`(offset: Int64, sign: Int64) {
        let clock = clock(offset * sign)
        #expect(clock.isReady && clock.opensAt == nil && clock.offset == offset * sign)
    }

    @Test(arguments: [300_001, -300_001, .max, .min] as [Int64])
    func `farther off it is wrong until an answer says otherwise`(offset: Int64) {
        var clock = clock(offset == .min ? .max : offset)
        #expect(!clock.isReady && clock.opensAt == Sample.at(ServerClock.probeMilliseconds))
        _ = clock.note(.timedOut, serverTime: nil, at: Sample.at(1))
        #expect(!clock.isReady)
        _ = clock.note(.absent, serverTime: EvaluationTime(milliseconds: .min), at: Sample.at(2))
        #expect(clock.opensAt == Sample.at(ServerClock.probeMilliseconds))
        clock.begin(at: Sample.at(ServerClock.probeMilliseconds))
        #expect(clock.opensAt == Sample.at(2 * ServerClock.probeMilliseconds))
        _ = clock.note(.absent, serverTime: Sample.at(3), at: Sample.at(3))
        #expect(clock.isReady)
        clock.begin(at: Sample.at(4))
        #expect(clock.isReady)
    }

    @Test func `without a date nothing is known`() {
        var clock = ServerClock()
        #expect(clock.note(.early, serverTime: nil, at: Sample.start) == false)
        #expect(clock.isReady && clock.offset == nil)
    }

    @Test(arguments: [(30_000, false), (30_001, true), (-30_000, false), (-30_001, true)] as [(Int64, Bool)])
    func `ten answers 304 in a row are suspect where the clocks differ by more than 30 s`(
        offset: Int64,
        isSuspect: Bool
    ) {
        var clock = clock(offset)
        let row = (0..<20).map { _ in clock.note(.early, serverTime: Sample.at(-offset), at: Sample.start) }
        let once = (0..<20).map { isSuspect && $0 % 10 == 9 }
        #expect(row == once)
    }

    @Test func `another answer ends a row of answers 304`() {
        var clock = clock(60_000)
        for _ in 0..<9 { #expect(clock.note(.early, serverTime: nil, at: Sample.start) == false) }
        #expect(clock.note(.absent, serverTime: nil, at: Sample.start) == false)
        for _ in 0..<9 { #expect(clock.note(.early, serverTime: nil, at: Sample.start) == false) }
        #expect(clock.note(.early, serverTime: nil, at: Sample.start) == true)
    }
}
