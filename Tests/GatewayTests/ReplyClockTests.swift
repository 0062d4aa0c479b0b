import DeviceLab
import HTTP
import Kafka
import TestKit
import Testing

@testable import Gateway

@Suite struct ReplyClockTests {
    /// What the gateway says after replies whose times differ so much from the request's and the reply's moment.
    private func doubt(_ offsets: [Int64], foreign: [Int64] = []) throws -> Int64? {
        let rig = try GatewayRig()
        for (index, offset) in offsets.enumerated() {
            try rig.send(
                .attestation(
                    of: FakeDevice(ExchangeKit.model, seed: UInt64(index)),
                    challenge: [UInt8](repeating: 7, count: 59)
                )
            )
            rig.pass(milliseconds: 100)
            let sent = try #require(rig.requests.last)
            var record = rig.record(of: sent, Array("{}".utf8), status: 200)
            record.timestamp += offset
            rig.gateway.note(replies: [record])
            guard index < foreign.count else { continue }
            record.timestamp = ExchangeKit.start + foreign[index]
            rig.gateway.note(replies: [record])
        }
        return rig.gateway.clockDoubt
    }

    @Test(arguments: [0, -100, 60_000, -60_100])
    func `a clock that is at most a minute off is believed`(offset: Int64) throws {
        #expect(try doubt([offset, offset, offset]) == nil)
    }

    @Test func `a doubt that has lasted a minute is forgotten, so that a call can measure again`() {
        var clock = ReplyClock()
        func reading(_ uptime: Int64, ahead: Int64 = 0) -> ReplyClock.Reading {
            ReplyClock.Reading(wall: ExchangeKit.start + uptime + ahead, uptime: uptime)
        }
        clock.note(appended: ExchangeKit.start + 600_000, producedAt: ExchangeKit.start, reading(0))
        for uptime in stride(from: 0, to: 60_000, by: 500) as StrideTo<Int64> { clock.poll(reading(uptime)) }
        #expect(clock.doubt(reading(59_999)) == 600_000)
        clock.poll(reading(60_000))
        #expect(clock.doubt(reading(60_000)) == nil)
        // A clock that was set is doubted without a measurement, and no longer.
        clock.note(appended: ExchangeKit.start + 60_000, producedAt: ExchangeKit.start + 60_000, reading(60_000))
        clock.poll(reading(61_000, ahead: 600_000))
        #expect(clock.doubt(reading(61_000, ahead: 600_000)) == -600_000)
        clock.poll(reading(121_000, ahead: 600_000))
        #expect(clock.doubt(reading(121_000, ahead: 600_000)) == nil)
    }

    @Test(arguments: [([600_000], nil), ([600_000, 600_000], nil), ([600_000, 600_000, 600_000], 600_000 as Int64?)])
    func `before its first request, others' replies from the future tell a gateway that its clock is behind`(
        ahead: [Int64],
        doubt: Int64?
    ) {
        var clock = ReplyClock()
        let now = ReplyClock.Reading(wall: ExchangeKit.start, uptime: 0)
        for ahead in ahead { clock.note(foreign: ExchangeKit.start + ahead, now) }
        #expect(clock.doubt(now) == doubt)
        clock.note(foreign: ExchangeKit.start - 10, now)
        #expect(clock.doubt(now) == nil)
    }

    @Test func `others' late replies say nothing, and those from the future nothing after a measurement`() {
        let now = ReplyClock.Reading(wall: ExchangeKit.start, uptime: 0)
        for offset in [-600_000, 600_000] as [Int64] {
            var clock = ReplyClock()
            if offset > 0 { clock.note(appended: ExchangeKit.start, producedAt: ExchangeKit.start, now) }
            for _ in 0..<9 { clock.note(foreign: ExchangeKit.start + offset, now) }
            #expect(clock.doubt(now) == nil)
        }
    }

    @Test func `of a worker whose clock is ahead only the replies to own requests count, once there was one`() {
        var clock = ReplyClock()
        func now(_ uptime: Int64) -> ReplyClock.Reading {
            ReplyClock.Reading(wall: ExchangeKit.start + uptime, uptime: uptime)
        }
        clock.note(appended: ExchangeKit.start, producedAt: ExchangeKit.start, now(0))
        clock.note(ExchangeKit.start + 90_000, producedAt: ExchangeKit.start, now(10))
        for uptime in 0..<9 as Range<Int64> { clock.note(foreign: ExchangeKit.start + 90_000, now(10 + uptime)) }
        #expect(clock.doubt(now(20)) == nil)
        // A doubt that was forgotten does not change that.
        clock.note(appended: ExchangeKit.start + 600_000, producedAt: ExchangeKit.start, now(30))
        clock.poll(now(40))
        clock.poll(now(40 + ReplyClock.doubtMilliseconds))
        for _ in 0..<9 { clock.note(foreign: ExchangeKit.start + 600_000, now(41 + ReplyClock.doubtMilliseconds)) }
        #expect(clock.doubt(now(42 + ReplyClock.doubtMilliseconds)) == nil)
    }

    @Test func `three replies out of time make the clock doubtful, and one in time ends that`() throws {
        #expect(try doubt([60_001, 60_001]) == nil)
        #expect(try doubt([60_001, 60_001, 60_001]) == 60_001)
        #expect(try doubt([-60_101, -60_101, -60_101]) == -60_001)
        #expect(try doubt([90_000, 90_000, 90_000, 0]) == nil)
        #expect(try doubt([90_000, 90_000, 0, 90_000, 90_000]) == nil)
    }
}
