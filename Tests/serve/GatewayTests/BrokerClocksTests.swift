import DeviceLab
import HTTP
import Kafka
import TestKit
import Testing

@testable import Gateway

@Suite("The brokers' clocks, as a gateway sees them")
struct BrokerClocksTests {
    private func reading(_ uptime: Int64, ahead: Int64 = 0) -> BrokerClocks.Reading {
        BrokerClocks.Reading(wall: ExchangeKit.start + uptime + ahead, uptime: uptime)
    }

    /// What is known after requests whose brokers differ so much from this clock.
    private func clocks(_ offsets: [(broker: Int32, offset: Int64)]) -> BrokerClocks {
        var clocks = BrokerClocks()
        for (broker, offset) in offsets {
            clocks.note(ExchangeKit.start + offset, of: broker, since: 0, reading(0))
        }
        return clocks
    }

    @Test(
        arguments: [
            ([(1, 0)], nil, []), ([(1, 60_000)], nil, []), ([(1, -60_000)], nil, []),
            ([(1, 60_001)], 60_001, []), ([(1, -240_000)], -240_000, []),
            // One broker of several is off: it is named, and this gateway goes on.
            ([(1, 5), (2, 240_000)], nil, [2]), ([(2, 240_000), (1, -5), (3, 0)], nil, [2]),
            ([(1, 240_000), (2, 240_000), (3, 0)], nil, [1, 2]),
            // All differ, whether they agree with each other or not: this clock is off, or none is known that is not.
            ([(1, 240_000), (2, 240_000)], 240_000, []), ([(1, 240_000), (2, -90_000)], -90_000, []),
            // The newest time of each broker counts.
            ([(1, 240_000), (1, 0)], nil, []), ([(1, 0), (1, 240_000)], 240_000, []),
        ] as [([(Int32, Int64)], Int64?, [Int32])]
    )
    func `one broker that agrees shows that this clock is right, and the others are named`(
        offsets: [(Int32, Int64)],
        doubt: Int64?,
        strays: [Int32]
    ) {
        let clocks = clocks(offsets.map { (broker: $0.0, offset: $0.1) })
        #expect(clocks.doubt(reading(0)) == doubt)
        #expect(clocks.strays(reading(0)).keys.sorted() == strays)
    }

    @Test func `a broker that is off changes nothing about a gateway's readiness, in any order of calls`() {
        var clocks = clocks([(1, 0)])
        for uptime in 0..<600 as Range<Int64> {
            let now = reading(uptime * 1_000)
            clocks.note(
                now.wall + (uptime % 3 == 0 ? 0 : 240_000),
                of: uptime % 3 == 0 ? 1 : 2,
                since: now.uptime,
                now
            )
            clocks.poll(now)
            #expect(clocks.doubt(now) == nil)
        }
    }

    @Test func `a doubt that has lasted a minute is forgotten, so that a call can measure again`() {
        var clocks = clocks([(1, 600_000)])
        for uptime in stride(from: 0, to: 60_000, by: 500) as StrideTo<Int64> { clocks.poll(reading(uptime)) }
        #expect(clocks.doubt(reading(59_999)) == 600_000)
        clocks.poll(reading(60_000))
        #expect(clocks.doubt(reading(60_000)) == nil)
        let now = reading(61_000)
        clocks.note(now.wall + 600_000, of: 2, since: now.uptime, now)
        #expect(clocks.doubt(now) == 600_000)
        clocks.note(now.wall, of: 3, since: now.uptime, now)
        #expect(clocks.doubt(now) == nil && clocks.strays(now).keys.sorted() == [1, 2])
    }

    @Test(arguments: [600_000, -600_000])
    func `a clock that is set while a request is under way, and set right again, is right`(ahead: Int64) {
        var clocks = BrokerClocks()
        clocks.note(ExchangeKit.start + 50, of: 1, since: 0, reading(100, ahead: ahead))
        #expect(abs((clocks.doubt(reading(100, ahead: ahead)) ?? 0) + ahead) <= 100)
        #expect(clocks.doubt(reading(200)) == nil)
    }

    @Test func `a measurement counts for an hour`() {
        let clocks = clocks([(1, 600_000)])
        #expect(clocks.doubt(reading(3_600_000)) == 600_000)
        #expect(clocks.offset(reading(3_600_001)) == nil)
    }
}

@Suite("Requests that no broker acknowledges")
struct ProduceWatchTests {
    /// What happens, in milliseconds, and the times at which nothing must be taken.
    private enum Step { case produce(UInt), written(UInt), lost(UInt), poll(isSilent: Bool) }

    private func run(_ steps: [(at: Int64, step: Step)]) {
        var watch = ProduceWatch()
        for (at, step) in steps {
            switch step {
            case .produce(let ticket): watch.noteProduced(ticket, at: at)
            case .written(let ticket): watch.noteFate(ticket, isWritten: true, at: at)
            case .lost(let ticket): watch.noteFate(ticket, isWritten: false, at: at)
            case .poll(let isSilent):
                watch.poll(at: at)
                #expect((watch.silentSince != nil) == isSilent, "\(at)")
            }
        }
    }

    @Test func `what waits for two seconds, and nothing acknowledged meanwhile, is silence`() {
        run([
            (0, .poll(isSilent: false)), (100, .produce(1)), (2_100, .poll(isSilent: false)),
            (2_101, .poll(isSilent: true)), (3_000, .written(1)), (3_000, .poll(isSilent: false)),
        ])
    }

    @Test func `one partition that waits for its leader is not silence while others are acknowledged`() {
        run([
            (0, .produce(1)), (1_500, .produce(2)), (1_510, .written(2)), (3_000, .poll(isSilent: false)),
            (3_400, .produce(3)), (3_410, .written(3)), (5_410, .poll(isSilent: false)), (5_411, .poll(isSilent: true)),
        ])
    }

    @Test func `once the fate of the last record is known, calls try again after ten seconds`() {
        run([
            (0, .produce(1)), (0, .produce(2)), (2_500, .poll(isSilent: true)), (10_000, .lost(2)),
            (10_050, .poll(isSilent: true)), (10_100, .lost(1)), (10_150, .poll(isSilent: true)),
            (20_100, .poll(isSilent: true)), (20_150, .poll(isSilent: false)), (20_200, .produce(3)),
            (22_201, .poll(isSilent: true)),
        ])
    }
}
