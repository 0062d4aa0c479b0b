internal import AppAttest
internal import DeviceLab
internal import JSON
internal import Testing

@Suite("Apple's double gives the wrong answers that it is asked for")
struct LabAppleFaultTests {
    private static let receipt = AppleRig.attested(Lab.device(.ios27_0_1))
    private static let later = AppleRig.later(AppleRig.hour)

    private static func rig(_ faults: [AppleFault], share: Double = 1, seed: UInt64 = 1) throws -> AppleRig {
        try AppleRig { ($0.faults, $0.faultShare, $0.seed) = (faults, share, seed) }
    }

    /// Whether a refresher sees it: AppleMenuTests.
    @Test(arguments: AppleFault.allCases)
    func `a fault makes the answer what its row says`(fault: AppleFault) throws {
        var rig = try Self.rig([fault])
        let answer = rig.send(Self.receipt, at: Self.later)
        #expect(answer.fault == fault && rig.apple.account.faults == 1)
        if case .status(let status) = fault.result {
            #expect(answer.status == status && status != 200)
        } else {
            #expect(answer.status == 200)
        }
    }

    @Test(arguments: AppleFault.allCases)
    func `a call without its token gets its own refusal unless the fault asks no questions`(fault: AppleFault) throws {
        var rig = try Self.rig([fault])
        var call = AppleRig.call(Self.receipt, at: Self.later)
        call.headers = []
        let answer = rig.apple.answer(call, at: Self.later)
        #expect(answer.fault == nil ? answer.status == 401 : answer.fault == fault)
        if answer.fault == nil { #expect(fault.result == .receipt || fault.result == .unusable) }
    }

    @Test func `every fault has a name of its own and is found by it`() {
        #expect(Set(AppleFault.allCases.map(\.name)).count == AppleFault.allCases.count)
        for fault in AppleFault.allCases { #expect(AppleFault.named(fault.name) == fault) }
        #expect(AppleFault.named("none") == nil)
    }

    @Test func `throttling comes in bursts, with Retry-After where the name says so`() throws {
        let bursts = AppleFault.allCases.filter(\.isBurst)
        #expect(bursts.map(\.name) == ["throttled", "throttled-retry-after"])
        for fault in bursts {
            var rig = try Self.rig([fault], share: 0.1, seed: 3)
            let answers = (0..<400).map { _ in rig.send(Self.receipt, at: Self.later) }
            let runs = answers.split { $0.fault == nil }.map(\.count)
            #expect(runs.count > 10 && runs.allSatisfy { $0 >= 2 } && runs.contains { $0 > 4 })
            for answer in answers where answer.fault != nil {
                let delays = answer.headers.filter { $0.name == "Retry-After" }.map(\.value)
                #expect(answer.status == 429 && delays == (fault.name == "throttled" ? [] : ["2"]))
            }
        }
    }

    @Test func `the same seed gives the same answers, and another one others`() throws {
        func answers(_ seed: UInt64) throws -> [AppleAnswer] {
            var rig = try Self.rig(AppleFault.allCases, share: 0.5, seed: seed)
            return (0..<60).map { rig.send(Self.receipt, at: AppleRig.later(AppleRig.hour + $0)) }
        }
        let first = try answers(5)
        #expect(try answers(5) == first)
        #expect(try answers(6).map(\.fault) != first.map(\.fault))
    }

    @Test(arguments: [0.0, 0.1, 0.5, 1.0])
    func `faults have their share`(share: Double) throws {
        let faults = AppleFault.allCases.filter { !$0.isBurst && $0.result != .receipt && $0.result != .unusable }
        var rig = try Self.rig(faults, share: share)
        // A refusal costs no signature.
        let answers = (0..<4_000).map { _ in rig.send([], at: Self.later) }
        let count = answers.count { $0.fault != nil }
        #expect(abs(Double(count) / 4_000 - share) < 0.03 && rig.apple.account.faults == count)
        #expect(Set(answers.compactMap(\.fault)) == (share == 0 ? [] : Set(faults)))
    }

    @Test func `a share of faults leaves the other answers as they are`() throws {
        var (plain, faulty) = (try AppleRig(), try Self.rig(AppleFault.allCases, share: 0.5, seed: 4))
        var same = 0
        for step in 0..<60 as Range<Int64> {
            let now = AppleRig.later(AppleRig.hour + step)
            let (one, other) = (plain.send(Self.receipt, at: now), faulty.send(Self.receipt, at: now))
            guard other.fault == nil else { continue }
            #expect(one.status == other.status && one.body == other.body)
            same += 1
        }
        #expect(same > 10 && same < 50)
    }
}
