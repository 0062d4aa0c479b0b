internal import AppCheck
internal import DeviceLab

/// The cost fuzzer: no refusal may cost more than three times what an accepted record of its verb and length does, a receipt's what
/// an attestation of its length does.
///
/// CPU time of one thread, the lowest of several runs; what seems too expensive is measured again and again beside the
/// accepted record, before it alarms.
struct CostLab {
    static let alarm = 3.0
    /// In nanoseconds: twice the cheapest record with a signature. An attacker gains nothing by sending what costs less.
    private static let floor = 30_000.0

    private let inputs: CostInputs
    private let rig: CostRig
    private var random: SeededRandom
    private var worst: [Verb: (ratio: Double, input: CostInput, answer: String)] = [:]
    private var baselines: [Baseline: Double] = [:]
    private var alarms = 0

    private struct Baseline: Hashable {
        let verb: Verb
        let length: Int
    }

    init(seed: UInt64, engine: CostEngine) throws {
        rig = try CostRig(seed: seed, engine: engine)
        inputs = CostInputs(rig)
        random = SeededRandom(seed: seed)
    }

    /// - Returns: the program's exit code.
    mutating func run(seconds: Int) throws -> Int32 {
        for verb in Verb.allCases {
            let found = try rig.measure(inputs.accepted(verb, length: 0), tries: 50)
            guard found.answer == "accepted" else {
                print("MISTAKE: the accepted \(verb.rawValue) is \(found.answer)")
                return 1
            }
            print("\(verb.rawValue): accepted in \(Int(found.cost)) ns")
        }
        let end = ContinuousClock.now + .seconds(seconds)
        var count = 0
        while ContinuousClock.now < end {
            for verb in Verb.allCases { try one(verb) }
            count += Verb.allCases.count
        }
        report(count)
        return alarms == 0 ? 0 : 1
    }

    private mutating func one(_ verb: Verb) throws {
        let input = inputs.hostile(verb, &random)
        let first = try rig.measure(input, tries: 2)
        guard first.answer != "accepted" else { return }
        var ratio = try first.cost / baseline(verb, input.length)
        guard ratio > worst[verb]?.ratio ?? 0 else { return }
        // Other load on the machine slows down both: the lowest of many runs, in turns, counts.
        var (refused, accepted) = (first.cost, Double.infinity)
        let beside = inputs.accepted(Self.peer(of: verb), length: input.length)
        for _ in 0..<(ratio > Self.alarm / 2 ? 40 : 6) {
            refused = min(refused, try rig.measure(input, tries: 1).cost)
            accepted = min(accepted, try rig.measure(beside, tries: 1).cost)
        }
        ratio = refused / accepted
        guard ratio > worst[verb]?.ratio ?? 0 else { return }
        worst[verb] = (ratio, input, first.answer)
        guard ratio > Self.alarm, refused > Self.floor else { return }
        alarms += 1
        print("ALARM: \(line(verb))")
    }

    /// The verb whose acceptance counts. Apple's own receipt alone is accepted in 14 us; to refuse one with a foreign root takes 52,
    /// two thirds of it a signature of P-384 that no group shares. Anybody can send that receipt in an attestation: that is the measure.
    private static func peer(of verb: Verb) -> Verb { verb == .verifyReceipt ? .verifyAttestation : verb }

    /// Of the next shorter of a few lengths: never more than what an accepted record of that length costs.
    private mutating func baseline(_ verb: Verb, _ length: Int) throws -> Double {
        let lengths = [0, 2_000, 4_000, 8_000, 16_000, 24_000, 32_000, 48_000, 64_000]
        let key = Baseline(verb: verb, length: lengths.last { $0 <= length } ?? 0)
        if let known = baselines[key] { return known }
        let cost = try rig.measure(inputs.accepted(Self.peer(of: verb), length: key.length), tries: 30).cost
        baselines[key] = cost
        return cost
    }

    private func report(_ count: Int) {
        for verb in Verb.allCases where worst[verb] != nil { print(line(verb)) }
        let ratio = worst.values.map(\.ratio).max() ?? 0
        print("\(count) records; the worst refusal costs \(Self.text(ratio)) times an acceptance; \(alarms) alarms")
    }

    private func line(_ verb: Verb) -> String {
        guard let (ratio, input, answer) = worst[verb] else { return verb.rawValue }
        return "\(verb.rawValue): \(Self.text(ratio)) times, \(answer), \(input.length) bytes, \(input.family)"
    }

    private static func text(_ ratio: Double) -> String { "\((ratio * 100).rounded() / 100)" }
}
