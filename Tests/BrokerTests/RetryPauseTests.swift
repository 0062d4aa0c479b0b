import TestKit
import Testing

@testable import Broker

@Suite("Pauses between retries")
struct RetryPauseTests {
    private static let now = anyMoment

    @Test func `a pause doubles with each consecutive failure, from 200 ms to 5 s, and a success resets it`() {
        var pause = RetryPause()
        #expect(pause.left(at: Self.now) == 0)
        var lengths: [Int] = []
        for _ in 0..<7 {
            pause.fail(at: Self.now)
            lengths.append(pause.left(at: Self.now) - 1)
        }
        #expect(lengths == [200, 400, 800, 1_600, 3_200, 5_000, 5_000])
        pause.succeed()
        #expect(pause.left(at: Self.now) == 0)
        pause.fail(at: Self.now)
        #expect(pause.left(at: Self.now) - 1 == 200)
    }

    @Test func `a pause ends when its time has passed, not before`() {
        var pause = RetryPause()
        pause.fail(at: Self.now)
        #expect(pause.left(at: Self.now + .milliseconds(199)) > 0)
        #expect(pause.left(at: Self.now + .milliseconds(200)) == 0)
    }
}
