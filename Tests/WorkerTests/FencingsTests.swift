import Testing

@testable import Broker
@testable import Worker

@Suite
struct FencingsTests {
    @Test func `three fencings in a minute may be a pause, a fourth means another process`() {
        var fencings = Fencings()
        #expect((0..<4).map { _ in fencings.note() } == [true, true, true, false])
    }

    @Test func `each unanswered request of the worker itself excuses one fencing`() {
        var fencings = Fencings()
        fencings.excuse(0)
        fencings.excuse(2)
        #expect((0..<6).map { _ in fencings.note() } == [true, true, true, true, true, false])
    }
}
