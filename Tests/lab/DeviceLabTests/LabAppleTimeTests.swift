internal import AppAttest
internal import DeviceLab
internal import Testing

@Suite("Apple's double counts keys, and knows dates")
struct LabAppleTimeTests {
    private static let (day, second): (Int64, Int64) = (AppleRig.day, 1_000)

    private static func device(_ seed: UInt64, on hardware: UInt64?, appID: String = Lab.appID) -> FakeDevice {
        var device = FakeDevice(ca: Lab.ca, appID: appID, seed: seed)
        device.hardware = hardware
        return device
    }

    @Test(arguments: [1, 30] as [Int64])
    func `before its Not Before a receipt gets 304 without a body, and from then on a new one`(days: Int64) throws {
        var rig = try AppleRig { $0.dates.notBeforeSeconds = days * 86_400 }
        let attested = AppleRig.attested(Lab.device(.ios27_0_1))
        let receipt = try rig.exchange(attested, at: AppleRig.later(Self.second))
        let notBefore = Self.second + days * Self.day
        // Past the 30 days another attestation keeps the device known.
        if days == 30 {
            _ = try rig.exchange(
                AppleRig.attested(Lab.device(.ios27_0_1), at: AppleRig.later(Self.day)),
                at: AppleRig.later(Self.day)
            )
        }
        let early = rig.send(receipt, at: AppleRig.later(notBefore - 1))
        #expect(early.status == 304 && early.body.isEmpty)
        #expect(rig.send(receipt, at: AppleRig.later(notBefore)).status == 200)
    }

    @Test func `an expired receipt gets 404`() throws {
        var rig = try AppleRig { $0.dates = ReceiptSpans(notBeforeSeconds: 0, expirySeconds: 86_400) }
        let receipt = try rig.exchange(AppleRig.attested(Lab.device(.ios27_0_1)), at: Lab.noon)
        #expect(rig.send(receipt, at: AppleRig.later(Self.day)).status == 200)
        let late = rig.send(receipt, at: AppleRig.later(Self.day + 1))
        #expect(late.status == 404 && late.body == AppleRefusal.expired.answer.body)
    }

    @Test func `30 days after the attestation there is no data, until the device attests again`() throws {
        // The leaf's dates are whole seconds.
        let limit = 30 * Self.day - 250
        let receipt = AppleRig.attested(Self.device(1, on: 7))
        for other in [Self.device(1, on: 7), Self.device(2, on: 7)] {
            var rig = try AppleRig()
            #expect(rig.send(receipt, at: AppleRig.later(limit)).status == 200)
            let late = rig.send(receipt, at: AppleRig.later(limit + 1))
            #expect(late.status == 404 && late.body == AppleRefusal.noData.answer.body)
            let now = AppleRig.later(limit + 2 * Self.second)
            #expect(try rig.metric(AppleRig.attested(other, at: now), at: now) == "1")
            #expect(try rig.metric(receipt, at: now) == "1")
        }
    }

    @Test(arguments: [Self.device(2, on: 8), Self.device(2, on: nil), Self.device(2, on: 7, appID: "ABCDE12345.other")])
    func `another device, or app, brings no data back`(other: FakeDevice) throws {
        var rig = try AppleRig()
        let receipt = AppleRig.attested(Self.device(1, on: 7))
        let now = AppleRig.later(30 * Self.day)
        #expect(try rig.metric(AppleRig.attested(other, at: now), at: now) == "1")
        #expect(rig.send(receipt, at: now).status == 404)
    }

    @Test func `the metric climbs with the keys of one device, and falls after 30 days`() throws {
        var rig = try AppleRig()
        let times = (0..<6).map { AppleRig.later(Int64($0) * 5 * Self.day) }
        let receipts = times.indices.map { AppleRig.attested(Self.device(UInt64($0), on: 7), at: times[$0]) }
        for index in times.indices {
            #expect(try rig.metric(receipts[index], at: times[index]) == "\(index + 1)")
            // A key that was counted is not counted again.
            #expect(try rig.metric(receipts[0], at: times[index]) == "\(index + 1)")
        }
        for index in times.indices {
            let now = EvaluationTime(milliseconds: times[index].milliseconds + 30 * Self.day)
            let left = times.count - index - 1
            let answer = rig.send(receipts[5], at: now)
            #expect(answer.status == (left == 0 ? 404 : 200))
            if left > 0 { #expect(try rig.metric(receipts[5], at: now) == "\(left)") }
        }
    }

    @Test func `a key that attests again counts once, and for longer`() throws {
        var rig = try AppleRig()
        let device = Self.device(1, on: 7)
        let again = AppleRig.later(20 * Self.day)
        #expect(try rig.metric(AppleRig.attested(device), at: Lab.noon) == "1")
        #expect(try rig.metric(AppleRig.attested(device, at: again), at: again) == "1")
        // The first attestation's receipt changes nothing.
        #expect(try rig.metric(AppleRig.attested(device), at: again) == "1")
        #expect(try rig.metric(AppleRig.attested(device), at: AppleRig.later(49 * Self.day)) == "1")
    }

    @Test func `keys are counted by device and by app, and a key without hardware alone`() throws {
        var rig = try AppleRig()
        let devices = [
            Self.device(1, on: 7), Self.device(2, on: 7), Self.device(3, on: 8), Self.device(4, on: nil),
            Self.device(5, on: nil), Self.device(6, on: 7, appID: "ABCDE12345.com.example.other"),
        ]
        let metrics = try devices.map { try rig.metric(AppleRig.attested($0), at: Lab.noon) }
        #expect(metrics == ["1", "2", "1", "1", "1", "1"])
    }

    @Test func `hardware is known from refreshed receipts too`() throws {
        var (rig, restarted) = (try AppleRig(), try AppleRig())
        let receipts = try [1, 2, 3].map {
            try rig.exchange(AppleRig.attested(Self.device($0, on: 7)), at: Lab.noon)
        }
        let now = AppleRig.later(Self.day)
        #expect(try receipts.map { try restarted.metric($0, at: now) } == ["1", "2", "3"])
    }

    @Test(arguments: [true, false])
    func `a receipt that was exchanged is exchanged again, or gets 304 until the newest one's Not Before`(
        exchangesAgain: Bool
    ) throws {
        var rig = try AppleRig { $0.exchangesAgain = exchangesAgain }
        let attested = AppleRig.attested(Lab.device(.ios27_0_1))
        let first = try rig.exchange(attested, at: AppleRig.later(Self.second))
        #expect(rig.send(attested, at: AppleRig.later(2 * Self.second)).status == (exchangesAgain ? 200 : 304))
        let other = AppleRig.attested(FakeDevice(ca: Lab.ca, appID: Lab.appID, seed: 8))
        #expect(rig.send(other, at: AppleRig.later(2 * Self.second)).status == 200)
        let next = AppleRig.later(2 * Self.day)
        #expect(rig.send(attested, at: next).status == 200)
        #expect(rig.send(first, at: next).status == (exchangesAgain ? 200 : 304))
    }
}
