internal import AppAttest
internal import Risk
internal import TestKit
internal import Testing

@Suite("The breaker of an account")
struct CallBreakerTests {
    private static let probe = CallBreaker.probeMilliseconds

    /// A breaker after so many failures in a row.
    private func breaker(_ failure: CallFailure, _ count: Int) -> CallBreaker {
        var breaker = CallBreaker()
        for _ in 0..<count { _ = breaker.fail(failure, at: Sample.start) }
        return breaker
    }

    @Test(arguments: [(CallFailure.answer, 10), (.pressure, 20), (.unauthorized, 10)])
    func `it opens at the failure in a row that is one too many`(failure: CallFailure, most: Int) {
        var breaker = breaker(failure, most - 1)
        #expect(!breaker.isOpen && breaker.opensAt == nil)
        #expect(breaker.fail(failure, at: Sample.at(5)) == .opened(failure))
        #expect(breaker.opensAt == Sample.at(5 + Self.probe))
        #expect(breaker.fail(failure, at: Sample.at(6)) == nil)
        #expect(breaker.opensAt == Sample.at(5 + Self.probe))
    }

    @Test(arguments: [(CallFailure.answer, 9), (.pressure, 19)])
    func `a verified answer starts the row from 0`(failure: CallFailure, count: Int) {
        var breaker = breaker(failure, count)
        #expect(breaker.succeed() == nil && breaker.isFresh)
        for _ in 0..<count { #expect(breaker.fail(failure, at: Sample.start) == nil) }
        #expect(!breaker.isOpen)
    }

    @Test func `an answer without data ends a row of pressure, and not one of invalid answers`() {
        var pressed = breaker(.pressure, 19)
        #expect(pressed.answer() == nil && pressed.isFresh)
        var invalid = breaker(.answer, 9)
        #expect(invalid.answer() == nil && !invalid.isFresh)
        #expect(invalid.fail(.answer, at: Sample.start) == .opened(.answer))
    }

    @Test func `an invalid answer ends a row of pressure, and pressure no row of invalid answers`() {
        var breaker = breaker(.pressure, 19)
        #expect(breaker.fail(.answer, at: Sample.start) == nil)
        #expect(breaker.fail(.pressure, at: Sample.start) == nil)
        for _ in 0..<8 { #expect(breaker.fail(.answer, at: Sample.start) == nil) }
        #expect(breaker.fail(.answer, at: Sample.start) == .opened(.answer))
    }

    @Test(arguments: [(CallFailure.answer, 10, false), (.pressure, 20, true), (.unauthorized, 10, true)])
    func `an answer without data closes what it refutes`(failure: CallFailure, count: Int, closes: Bool) {
        var breaker = breaker(failure, count)
        #expect(breaker.answer() == (closes ? .closed : nil))
        #expect(breaker.isOpen != closes)
        #expect(breaker.succeed() == (closes ? nil : .closed))
    }

    @Test(.startsItself) func `an open breaker lets nothing but probes through`() async {
        await #expect(processExitsWith: .failure) {
            var breaker = CallBreaker()
            for _ in 0..<10 { _ = breaker.fail(.unauthorized, at: Sample.start) }
            breaker.begin(at: Sample.at(CallBreaker.probeMilliseconds - 1))
        }
    }
}
