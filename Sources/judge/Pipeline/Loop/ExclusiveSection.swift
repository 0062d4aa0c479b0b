internal import Streams
internal import Threads

/// Keeps the loops of one process apart where a record must be processed with nothing else in flight.
///
/// A crash shows which record its thread was touching, but any other thread may have done the damage, whichever loop's
/// record it had. So a loop with a suspect waits until no other loop has anything in flight, and meanwhile none of them
/// starts anything.
package final class ExclusiveSection: Sendable {
    fileprivate struct State: Sendable {
        /// Whether each loop has work in flight, or may just be polling some.
        var isBusy: [Bool]
        /// The loop that is alone, or waits for the others to be done.
        var exclusiveLoop: Int?
    }

    private let state: Locked<State>
    /// One for each loop.
    package let slots: [Slot]

    package init(loops: Int) {
        let state = Locked(State(isBusy: Array(repeating: false, count: loops)))
        self.state = state
        slots = (0..<loops).map { Slot(number: $0, state: state) }
    }

    /// A loop's place among the others; for the loop's thread.
    package final class Slot: Sendable {
        private let number: Int
        private let state: Locked<State>

        fileprivate init(number: Int, state: Locked<State>) { (self.number, self.state) = (number, state) }

        /// Starts work, or a poll that may bring some, while the other loops work.
        ///
        /// - Returns: false while another loop is alone, or waits to be.
        func start() -> Bool {
            state.withLock { state in
                guard state.exclusiveLoop == nil || state.exclusiveLoop == number else { return false }
                // Ordinary work again: a loop that is busy all the time never rests.
                state.exclusiveLoop = nil
                state.isBusy[number] = true
                return true
            }
        }

        /// Starts work with nothing else in flight.
        ///
        /// - Returns: false while others have work in flight; from the first call on they start no more.
        func startExclusively() -> Bool {
            state.withLock { state in
                state.exclusiveLoop = state.exclusiveLoop ?? number
                let others = state.isBusy.indices.filter { $0 != number }
                guard state.exclusiveLoop == number, !others.contains(where: { state.isBusy[$0] }) else { return false }
                state.isBusy[number] = true
                return true
            }
        }

        /// Notes that this loop has nothing in flight.
        ///
        /// - Parameter waitsForOthers: whether it goes on waiting for the others.
        func rest(waitsForOthers: Bool) {
            state.withLock { state in
                state.isBusy[number] = false
                if state.exclusiveLoop == number, !waitsForOthers { state.exclusiveLoop = nil }
            }
        }
    }
}

extension BatchLoop {
    /// Whether a piece waits to be processed alone.
    private var hasExclusivePiece: Bool {
        if case .pieces(let pieces, _) = pendingRound { pieces.first?.count == 1 } else { false }
    }

    /// Tells the other loops that nothing is in flight here; at the end of every tick.
    func noteRest() {
        if inFlight.isEmpty { slot.rest(waitsForOthers: hasExclusivePiece) }
    }

    /// Whether a batch of so many records may start while the other loops work.
    func mayStart(exclusively isExclusive: Bool) -> Bool {
        let mayStart = isExclusive ? slot.startExclusively() : slot.start()
        awaitsOthers = !mayStart
        return mayStart
    }
}
