internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Testing

@Suite struct FleetTests {
    static func plan(devices: Int = 30, records: Int = 900, faultShare: Double = 0.3) -> FleetPlan {
        var plan = FleetPlan(
            ca: Lab.ca,
            seed: 5,
            appIDs: [Lab.appID, "ABCDE12345.com.example.other"],
            devices: devices,
            records: records,
            start: Lab.noon
        )
        plan.faultShare = faultShare
        return plan
    }

    @Test func `each device attests first and once, and counters rise by one per round`() {
        let fleet = FakeFleet(Self.plan(faultShare: 0))
        var counters: [Int: UInt32] = [:]
        for index in 0..<fleet.plan.records {
            let step = fleet.step(index)
            #expect(step.index == index && step.fault == nil)
            #expect(step.time.milliseconds == Lab.noon.milliseconds + Int64(index))
            guard step.kind == .assertion else {
                #expect(counters.updateValue(0, forKey: step.device) == nil)
                continue
            }
            #expect(counters.updateValue(step.counter, forKey: step.device) == step.counter - 1)
        }
        #expect(counters.count == fleet.plan.devices)
    }

    @Test func `any lane makes the same record, in any order`() {
        let fleet = FakeFleet(Self.plan())
        let (one, other) = (fleet.lane(), fleet.lane())
        let forwards = (0..<200).map { one.record($0).object }
        let backwards = (0..<200).reversed().map { other.record($0).object }
        #expect(forwards == backwards.reversed())
    }

    @Test(arguments: [1, 7, 64, 200])
    func `records made together are those made alone`(count: Int) {
        let fleet = FakeFleet(Self.plan())
        let (together, alone) = (fleet.lane(), fleet.lane())
        for start in stride(from: 0, to: 200, by: count) {
            let indices = Array(start..<min(start + count, 200))
            #expect(together.records(indices).map(\.object) == indices.map { alone.record($0).object })
        }
    }

    @Test func `a lane with a roster makes the same records as one without`() {
        let fleet = FakeFleet(Self.plan(devices: 100, records: 400))
        let (one, other) = (fleet.lane(), fleet.lane())
        let batch = LabBatch()
        for number in 0..<fleet.blocks(forDevices: 70) { one.roster.append(fleet.block(number, batch)) }
        #expect(one.roster.blockCount == 2)
        #expect(one.records(Array(0..<400)).map(\.object) == other.records(Array(0..<400)).map(\.object))
    }

    @Test func `imitated signatures are made together as they are made alone`() {
        var plan = Self.plan()
        plan.ca = Lab.ca.with(signer: OracleSigner())
        let (together, alone) = (FakeFleet(plan).lane(), FakeFleet(plan).lane())
        #expect(together.records(Array(0..<100)).map(\.object) == (0..<100).map { alone.record($0).object })
    }

    /// Every build must make the same captures: a change here changes all of them.
    @Test func `a plan's bytes are the same in every process`() {
        let lane = FakeFleet(Self.plan()).lane()
        let bytes = (0..<300).flatMap { lane.record($0).object }
        #expect(SHA256.hash(bytes).bytes.prefix(4) == [146, 51, 230, 185])
    }

    @Test(arguments: [0.0, 0.1, 0.5, 1.0])
    func `faults have their share, and never affect a device's first attestation`(share: Double) {
        let fleet = FakeFleet(Self.plan(devices: 40, records: 8040, faultShare: share))
        let faulty = (0..<8040).filter { fleet.step($0).fault != nil }
        #expect(faulty.allSatisfy { $0 >= 40 })
        #expect(abs(Double(faulty.count) / 8000 - share) < 0.03)
    }

    @Test func `a replay is the object of an earlier record`() {
        let fleet = FakeFleet(Self.plan())
        let lane = fleet.lane()
        let replays = (0..<fleet.plan.records).map { fleet.step($0) }.filter { $0.replayOf != nil }
        #expect(replays.count > 10)
        for step in replays {
            #expect(step.replayOf.map { lane.record($0).object } == lane.record(step.index).object)
        }
    }

    @Test(arguments: FleetPlan.ObjectKind.allCases)
    func `a fleet of one kind does nothing else once every device has attested`(kind: FleetPlan.ObjectKind) {
        var plan = Self.plan()
        plan.kinds = [kind]
        let fleet = FakeFleet(plan)
        let steps = (0..<plan.records).map { fleet.step($0) }
        #expect(steps.prefix(plan.devices).allSatisfy { $0.kind == .attestation && $0.fault == nil })
        #expect(steps.dropFirst(plan.devices).allSatisfy { $0.kind == kind })
    }

    @Test func `an external clock dates a record, and changes nothing else in it`() {
        let fleet = FakeFleet(Self.plan())
        let later = EvaluationTime(milliseconds: Lab.noon.milliseconds + 3_600_000)
        for index in 0..<fleet.plan.records {
            let (planned, dated) = (fleet.step(index), fleet.step(index, at: later))
            #expect(dated.time == later)
            #expect((dated.device, dated.counter) == (planned.device, planned.counter))
            #expect((dated.fault, dated.replayOf) == (planned.fault, planned.replayOf))
        }
    }
}
