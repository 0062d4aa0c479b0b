internal import AppAttest
internal import DeviceLab
internal import Foundation

/// Structured fuzzing: objects that are right but for one thing, signed again over it, so that damage reaches the
/// check that is meant for it. Random bytes hardly ever get that far.
///
/// A fault must give exactly its reason, none must be accepted, and damaged bytes never; inputs and their order depend
/// on the seed alone.
@main
struct FuzzLab {
    private var inputs = 2_000_000
    private var seed: UInt64 = 1
    private var lanes = ProcessInfo.processInfo.activeProcessorCount
    /// How often each reason must be reached.
    private var least = 1000
    /// Nil: verdicts are fuzzed, not what they cost.
    private var costSeconds: Int?
    private var engine = CostEngine.auto
    /// Nil: objects are fuzzed, not signatures.
    private var signatures: Int?
    /// Nil: no hostile HTTP.
    private var gatewaySeconds: Int?

    static func main() throws {
        let lab = try FuzzLab(Array(CommandLine.arguments.dropFirst()))
        exit(try lab.run())
    }

    private init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            guard let text = rest.popFirst() else { Self.usage() }
            if option == "--engine", let named = CostEngine(rawValue: text) {
                engine = named
                continue
            }
            guard let value = UInt64(text) else { Self.usage() }
            switch option {
            case "--inputs": inputs = Int(clamping: value)
            case "--seed": seed = value
            case "--lanes": lanes = max(1, Int(clamping: value))
            case "--least": least = Int(clamping: value)
            case "--cost": costSeconds = Int(clamping: value)
            case "--signatures": signatures = Int(clamping: value)
            case "--gateway": gatewaySeconds = Int(clamping: value)
            default: Self.usage()
            }
        }
    }

    private static func usage() -> Never {
        print("Usage: FuzzLab [--inputs N] [--seed S] [--lanes L] [--least K]")
        print("       FuzzLab --cost SECONDS [--seed S] [--engine auto|ifma|portable|openssl]")
        print("       FuzzLab --signatures N [--seed S] [--lanes L]")
        print("       FuzzLab --gateway SECONDS [--seed S] [--lanes L]")
        exit(2)
    }

    private func run() throws -> Int32 {
        if let costSeconds {
            var lab = try CostLab(seed: seed, engine: engine)
            return try lab.run(seconds: costSeconds)
        }
        if let signatures { return SignatureLab(count: signatures, seed: seed, lanes: lanes).run() }
        if let gatewaySeconds { return GatewayLab(seconds: gatewaySeconds, seed: seed, lanes: lanes).run() }
        let pool = try Pool(seed: seed, devicesPerShape: 4)
        let chunks = (inputs + Lane.chunk - 1) / Lane.chunk
        let start = ContinuousClock.now
        let tally = Tally.sum(lanes: lanes, chunks: chunks) { Lane(pool: pool, seed: seed).run }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return report(tally, seconds)
    }

    private func report(_ tally: Tally, _ seconds: Double) -> Int32 {
        for (reason, count) in tally.reasons { print("\(count)\t\(reason)") }
        let rate = Int(Double(tally[.inputs]) / seconds)
        print("\(tally[.inputs]) inputs, seed \(seed), \(lanes) lanes: \(rate) inputs/s")
        print("\(tally[.crossChecked]) with real signatures")
        print("\(tally[.mutatedAccepted]) damaged where nothing is signed")
        print("\(tally[.resignedAccepted]) damaged, signed again and accepted with the same evidence")
        for mistake in tally.mistakes { print("MISTAKE: \(mistake)") }
        let rare = Self.reasons.filter { tally[.reason($0)] < least }
        for reason in rare { print("TOO RARE: \(reason), \(tally[.reason(reason)]) of \(least)") }
        return tally.mistakes.isEmpty && rare.isEmpty ? 0 : 1
    }

    /// Every reason that some fault gives.
    private static var reasons: [String] {
        let codes =
            AttestationFault.allCases.map(\.expected.code) + AssertionFault.allCases.map(\.expected.code)
            + ReceiptFault.allCases.map { Refusal.receipt($0.expected).code }
        return Set(codes + ["accepted"]).sorted()
    }
}
