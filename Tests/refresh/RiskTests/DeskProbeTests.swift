internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Risk
internal import Testing

@Suite("A breaker's probes")
struct DeskProbeTests {
    private static let due = Sample.at(Milliseconds.minute)

    private var random = SeededRandom(seed: 4)

    private func desk(partitions: Int32) throws -> RefreshDesk {
        let key = ProviderKey(team: Sample.account.team, kid: "K", key: try SigningKey.generate(.p256))
        var desk = RefreshDesk(
            lines: LineSettings(),
            callsPerSecond: 3_000,
            partitions: Int(partitions),
            tokens: ProviderTokens([try #require(key)])
        )
        for partition in 0..<partitions { desk.assign(LinePair(line: .first, partition: partition), from: 0) }
        return desk
    }

    /// Fails all calls from a time on until a breaker opens.
    ///
    /// - Returns: when it opened.
    private mutating func open(_ desk: inout RefreshDesk) -> EvaluationTime {
        var now = Self.due
        while desk.breakers[Sample.account]?.isOpen != true {
            switch desk.next(at: now) {
            case .call(let call): _ = desk.end(call, .unavailable, at: now, using: &random)
            case .wait(let until): now = until ?? .never
            }
        }
        return now
    }

    @Test(arguments: [nil, 0, 1] as [Int32?])
    mutating func `a probe is of the receipt that was kept least often`(fresh: Int32?) throws {
        var desk = try desk(partitions: 2)
        desk.append(Sample.record(0, Sample.attest(0)), to: LinePair(line: .first, partition: 0))
        let opened = open(&desk)
        if let fresh {
            desk.append(Sample.record(1, Sample.attest(1)), to: LinePair(line: .first, partition: fresh))
        }
        // The receipts are put aside until the probe.
        var probe = opened.after(milliseconds: Milliseconds.minute)
        while probe < opened.after(milliseconds: CallBreaker.probeMilliseconds),
            case .wait(let next?) = desk.next(at: probe)
        { probe = next }
        guard case .call(let call) = desk.next(at: probe) else {
            Issue.record("no probe is made")
            return
        }
        #expect(probe == opened.after(milliseconds: CallBreaker.probeMilliseconds))
        #expect(call.visit.offset == (fresh == nil ? 0 : 1) && call.pair.partition == fresh ?? 0)
    }

    /// With work that grows as the square of the visits that are kept, it takes minutes.
    @Test mutating func `a breaker that stays open for hours over 36,000 visits costs a pass for each probe`() throws {
        var desk = try desk(partitions: 36)
        desk.append(Sample.record(0, Sample.attest(0)), to: LinePair(line: .first, partition: 0))
        var now = open(&desk)
        var offsets = [Int64](repeating: 1, count: 36)
        let end = now.after(milliseconds: 24 * CallBreaker.probeMilliseconds + Milliseconds.minute)
        var calls = 0
        while now <= end {
            for partition in 0..<36 as Range<Int32> {
                let pair = LinePair(line: .first, partition: partition)
                while desk.room(of: pair) > 0, offsets[Int(partition)] <= 1_100 {
                    desk.append(Sample.record(offsets[Int(partition)], Sample.attest(0)), to: pair)
                    offsets[Int(partition)] += 1
                }
            }
            switch desk.next(at: now) {
            case .call(let call):
                calls += 1
                _ = desk.end(call, .unavailable, at: now, using: &random)
            case .wait(let until):
                let isFull = offsets.allSatisfy { $0 > LinePartition.mostKept }
                now = isFull ? until ?? .never : now.after(milliseconds: 2)
            }
        }
        #expect(calls == 24)
        #expect(desk.unfinishedCount == 36 * LinePartition.mostKept)
    }
}
