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
        for uptime in stride(from: 0, to: 60_000, by: 500) as StrideTo<Int64> { clock.look(reading(uptime)) }
        #expect(clock.doubt(reading(59_999)) == 600_000)
        clock.look(reading(60_000))
        #expect(clock.doubt(reading(60_000)) == nil)
        // A clock that was set is doubted without a measurement, and no longer.
        clock.note(appended: ExchangeKit.start + 60_000, producedAt: ExchangeKit.start + 60_000, reading(60_000))
        clock.look(reading(61_000, ahead: 600_000))
        #expect(clock.doubt(reading(61_000, ahead: 600_000)) == -600_000)
        clock.look(reading(121_000, ahead: 600_000))
        #expect(clock.doubt(reading(121_000, ahead: 600_000)) == nil)
    }

    @Test func `three replies out of time make the clock doubtful, and one in time ends that`() throws {
        #expect(try doubt([60_001, 60_001]) == nil)
        #expect(try doubt([60_001, 60_001, 60_001]) == 60_001)
        #expect(try doubt([-60_101, -60_101, -60_101]) == -60_001)
        #expect(try doubt([90_000, 90_000, 90_000, 0]) == nil)
        #expect(try doubt([90_000, 90_000, 0, 90_000, 90_000]) == nil)
    }
}
