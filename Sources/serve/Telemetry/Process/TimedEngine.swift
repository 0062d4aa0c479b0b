package import Crypto
internal import Synchronization

/// Counts an engine's signatures and their time, for the summary: no code below the worker reads a clock.
package final class TimedEngine: SignatureEngine {
    /// Shared by the engines of all lanes.
    package final class Meter: Sendable {
        // Of the engine, and of OpenSSL after the engine was found wrong. Each only grows, also for a reader in between.
        private let p256 = Atomic<Int>(0)
        private let p384 = Atomic<Int>(0)
        private let beyondP256 = Atomic<Int>(0)
        private let beyondP384 = Atomic<Int>(0)
        private let nanoseconds = Atomic<Int>(0)

        package init() {}

        /// - Parameter isStopped: the engine was found wrong, and OpenSSL has verified these.
        func add(_ count: Int, onP384 other: Int, isStopped: Bool, _ elapsed: Duration) {
            let (seconds, attoseconds) = elapsed.components
            if isStopped {
                beyondP256.add(count - other, ordering: .relaxed)
                beyondP384.add(other, ordering: .relaxed)
            } else {
                p256.add(count - other, ordering: .relaxed)
                p384.add(other, ordering: .relaxed)
            }
            nanoseconds.add(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000), ordering: .relaxed)
        }

        package var total: Int {
            let (own, beyond) = (counts(isStopped: false), counts(isStopped: true))
            return own.p256 + own.p384 + beyond.p256 + beyond.p384
        }

        /// The counts by curve: those of the engine, or of OpenSSL after the engine was found wrong.
        package func counts(isStopped: Bool) -> (p256: Int, p384: Int) {
            isStopped
                ? (beyondP256.load(ordering: .relaxed), beyondP384.load(ordering: .relaxed))
                : (p256.load(ordering: .relaxed), p384.load(ordering: .relaxed))
        }

        /// Microseconds of one lane per signature; nil where none was verified.
        package var microsecondsPerSignature: Double? {
            let count = total
            return count == 0 ? nil : Double(nanoseconds.load(ordering: .relaxed)) / 1000 / Double(count)
        }
    }

    private let engine: any SignatureEngine
    private let meter: Meter
    private let isStopped: @Sendable () -> Bool
    private let clock = ContinuousClock()

    /// - Parameter isStopped: whether the engine was found wrong.
    package init(_ engine: any SignatureEngine, meter: Meter, isStopped: @escaping @Sendable () -> Bool = { false }) {
        self.engine = engine
        self.meter = meter
        self.isStopped = isStopped
    }

    package func verify(_ checks: [SignatureCheck]) -> [Bool] {
        var answers = SignatureAnswers()
        verify(checks, into: &answers)
        return answers.isValid
    }

    package func verify(_ checks: [SignatureCheck], into answers: inout SignatureAnswers) {
        let (start, isStopped) = (clock.now, isStopped())
        engine.verify(checks, into: &answers)
        var other = 0
        // Elements of a span are read in place.
        let span = checks.span
        for index in span.indices { if case .p384 = span[index] { other += 1 } }
        meter.add(checks.count, onP384: other, isStopped: isStopped, clock.now - start)
    }
}
