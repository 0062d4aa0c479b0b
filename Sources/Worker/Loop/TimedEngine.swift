internal import Crypto
internal import Synchronization

/// Counts an engine's signatures and their time, for the summary: no code below the worker reads a clock.
final class TimedEngine: SignatureEngine {
    /// Shared by the engines of all lanes.
    final class Meter: Sendable {
        private let signatures = Atomic<Int>(0)
        private let nanoseconds = Atomic<Int>(0)

        func add(_ count: Int, _ elapsed: Duration) {
            let (seconds, attoseconds) = elapsed.components
            signatures.add(count, ordering: .relaxed)
            nanoseconds.add(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000), ordering: .relaxed)
        }

        var total: Int { signatures.load(ordering: .relaxed) }

        /// Microseconds of one lane per signature; nil where none was verified.
        var microsecondsPerSignature: Double? {
            let count = signatures.load(ordering: .relaxed)
            return count == 0 ? nil : Double(nanoseconds.load(ordering: .relaxed)) / 1000 / Double(count)
        }
    }

    private let engine: any SignatureEngine
    private let meter: Meter
    private let clock = ContinuousClock()

    init(_ engine: any SignatureEngine, meter: Meter) {
        self.engine = engine
        self.meter = meter
    }

    func verify(_ checks: [SignatureCheck]) -> [Bool] {
        var answers = SignatureAnswers()
        verify(checks, into: &answers)
        return answers.isValid
    }

    func verify(_ checks: [SignatureCheck], into answers: inout SignatureAnswers) {
        let start = clock.now
        engine.verify(checks, into: &answers)
        meter.add(checks.count, clock.now - start)
    }
}
