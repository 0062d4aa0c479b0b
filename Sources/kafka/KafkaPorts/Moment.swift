internal import Synchronization

/// A moment on a clock that never goes back and that runs while the machine sleeps, in milliseconds. Only hosts read that
/// clock; everything else gets its moments as arguments.
package struct Moment: Comparable, Hashable, Sendable {
    package let milliseconds: Int64

    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    package static func < (one: Self, other: Self) -> Bool { one.milliseconds < other.milliseconds }

    package static func + (moment: Self, milliseconds: Int64) -> Self {
        let (sum, isOver) = moment.milliseconds.addingReportingOverflow(milliseconds)
        return Self(milliseconds: isOver ? .max : sum)
    }

    package static func - (later: Self, earlier: Self) -> Int64 { later.milliseconds - earlier.milliseconds }
}

/// The time that an output has left. The member shortens it on the loop's queue, a call that is under way reads it:
/// all that two threads share of a member.
package final class CallBudget: Sendable {
    private let deadline: Atomic<Int64>
    private let lost = Atomic<Bool>(false)
    private let heldBack: Atomic<Bool>

    /// - Parameter isHeldBack: the output counts only once the member has seen what others wrote; see ``letGo()``.
    package init(until deadline: Moment, isHeldBack: Bool = false) {
        self.deadline = Atomic(deadline.milliseconds)
        heldBack = Atomic(isHeldBack)
    }

    /// Ends the budget at a moment, or before it. Never lengthens it.
    package func shorten(to moment: Moment) {
        _ = deadline.min(moment.milliseconds, ordering: .relaxed)
    }

    /// Milliseconds, 0 where the time is up.
    package func left(at now: Moment) -> Int64 {
        max(0, Moment(milliseconds: deadline.load(ordering: .relaxed)) - now)
    }

    /// Another member may own the partitions already: nothing more of them is sent to the coordinator.
    package func noteLost() { lost.store(true, ordering: .relaxed) }

    package var isLost: Bool { lost.load(ordering: .relaxed) }

    /// The output may count.
    package func letGo() { heldBack.store(false, ordering: .relaxed) }

    package var isHeldBack: Bool { heldBack.load(ordering: .relaxed) }
}
