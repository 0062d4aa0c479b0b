/// Follows a judgement check by check. Each check is written once, where it refuses, so that an explanation cannot
/// differ from the verdict.
///
/// The tracer is a generic parameter of what judges: with ``NoTrace`` nothing of it is left in the program.
package protocol CheckTracer: SendableMetatype {
    /// Whether checks are kept at all.
    static var keepsChecks: Bool { get }

    /// All configured App IDs: a hash that the app does not list may be another app's.
    var knownAppIDs: [AppID] { get }

    /// - Parameters:
    ///   - name: a later check of the same name takes the place of the earlier one.
    ///   - adds: the comparisons of the earlier check stay, if this one passes too.
    ///   - comparisons: what is presented and expected.
    func note(
        _ name: @autoclosure () -> String,
        _ outcome: @autoclosure () -> TracedCheck.Outcome,
        adds: Bool,
        _ comparisons: () -> [Comparison]
    )

    /// A tracer for the checks of a part, which is one check of the whole.
    func part() -> Self

    /// The presented and expected values at the checks of these names.
    func comparisons(at names: [String]) -> [Comparison]
}

/// The reason why a check refuses.
package protocol CheckFailure: Error {
    /// The reason's name in results.
    var code: String { get }
}

/// The tracer of the hot path.
package struct NoTrace: CheckTracer {
    @inlinable package init() {}

    @inlinable package static var keepsChecks: Bool { false }

    package var knownAppIDs: [AppID] { [] }

    @inlinable
    @inline(__always)
    package func note(
        _ name: @autoclosure () -> String,
        _ outcome: @autoclosure () -> TracedCheck.Outcome,
        adds: Bool,
        _ comparisons: () -> [Comparison]
    ) {}

    @inlinable package func part() -> NoTrace { self }

    package func comparisons(at names: [String]) -> [Comparison] { [] }
}

extension CheckTracer {
    /// - Parameter comparison: of both outcomes.
    @inlinable
    @inline(__always)
    package func check<Failure: CheckFailure>(
        _ name: @autoclosure () -> String,
        _ isMet: Bool,
        else failure: Failure,
        adds: Bool = false,
        _ comparison: () -> Comparison?
    ) throws(Failure) {
        guard isMet else { throw failed(name(), failure, comparison) }
        note(name(), .passed, adds: adds) { comparison().map { [$0] } ?? [] }
    }

    @inlinable
    @inline(__always)
    package func passed(_ name: @autoclosure () -> String, _ comparison: () -> Comparison?) {
        note(name(), .passed, adds: false) { comparison().map { [$0] } ?? [] }
    }

    /// - Returns: the failure, to be thrown.
    @inlinable
    @inline(__always)
    package func failed<Failure: CheckFailure>(
        _ name: @autoclosure () -> String,
        _ failure: Failure,
        _ comparison: () -> Comparison?
    ) -> Failure {
        note(name(), .failed(failure.code), adds: false) { comparison().map { [$0] } ?? [] }
        return failure
    }

    /// A check that is made elsewhere.
    @inlinable
    @inline(__always)
    package func noted<Value, Failure: CheckFailure>(
        _ name: @autoclosure () -> String,
        _ result: Result<Value, Failure>,
        _ comparison: () -> Comparison?
    ) throws(Failure) -> Value {
        switch result {
        case .success(let value):
            passed(name(), comparison)
            return value
        case .failure(let failure): throw failed(name(), failure, comparison)
        }
    }

    @inlinable
    @inline(__always)
    package func notJudged(_ name: @autoclosure () -> String, _ cause: @autoclosure () -> String) {
        note(name(), .notJudged(cause()), adds: false) { [] }
    }
}
