import Testing

@testable import Broker

@Suite
struct FencingsTests {
    @Test func `three fencings in a minute may be a pause, a fourth means another process`() {
        var fencings = Fencings.ofMember
        #expect((0..<4).map { _ in fencings.note() } == [true, true, true, false])
    }

    @Test func `each unanswered request of the worker itself excuses one fencing`() {
        var fencings = Fencings.ofUnit(isStaticMember: false)
        fencings.excuse(0)
        fencings.excuse(2)
        #expect((0..<6).map { _ in fencings.note() } == [true, true, true, true, true, false])
    }

    /// Two static members contend for the member's name and for the transactional id; who takes one over fences the
    /// other's at once or while it works, in either order.
    @Test(arguments: 0..<64) func `of two static members with one name one is left, whatever is fenced first`(
        order: Int
    ) {
        var processes = (0..<2).map { _ in (Fencings.ofMember, Fencings.ofUnit(isStaticMember: true)) }
        var ended: [Int] = []
        for turn in 0..<40 where ended.isEmpty {
            let other = (turn + order) % 2
            let unitFirst = order >> (turn % 6) & 1 == 1
            // Both processes may be fenced in one turn: the id may belong to the one, the member's name to the other.
            let unitOf = order >> ((turn + 3) % 6) & 1 == 1 ? other : 1 - other
            let steps = [{ processes[other].0.note() ? nil : other }, { processes[unitOf].1.note() ? nil : unitOf }]
            ended += (unitFirst ? steps.reversed() : steps).compactMap { $0() }
        }
        #expect(ended.count == 1)
    }
}
