package import AppAttest
package import Risk

/// A call that began, as a list of a run shows it.
package struct BegunCall: Sendable, Equatable {
    package let pair: LinePair
    package let offset: Int64
    package let at: EvaluationTime
}

/// Watches a run and notes what must not be. It keeps its own books and asks the driver nothing.
package struct RunAudit: Sendable {
    private struct Place: Hashable {
        let pair: LinePair
        let offset: Int64
    }

    private enum Stage {
        case open, kept, final
        /// A crash, a revocation or a lost write: the record is read once more.
        case again
    }

    package private(set) var breaches: [String] = []
    package private(set) var calls: [BegunCall] = []
    package private(set) var outcomes: [String: Int] = [:]
    private var stages: [Place: Stage] = [:]
    /// By pair: offsets that are open or kept.
    private var unfinished: [LinePair: Set<Int64>] = [:]

    package init() {}

    package mutating func begin(_ call: ReceiptCall, at time: EvaluationTime) {
        let place = Place(pair: call.pair, offset: call.offset)
        let dates = call.receipt.dates
        calls.append(BegunCall(pair: call.pair, offset: call.offset, at: time))
        if let notBefore = dates.notBefore, time < notBefore { note("before Not Before", place) }
        if let expiresAt = dates.expiresAt, time > expiresAt { note("after its expiry", place) }
        if time < call.due { note("before it is due", place) }
        if !call.pair.line.takes(dates.type) { note("by a line that does not take it", place) }
        switch stages[place] {
        case .open: note("while another call of it is open", place)
        case .final: note("again, although it was done", place)
        case .kept, .again, nil: break
        }
        stages[place] = .open
        unfinished[call.pair, default: []].insert(call.offset)
    }

    package mutating func end(_ call: ReceiptCall, _ outcome: CallOutcome, isOver: Bool) {
        outcomes[outcome.name, default: 0] += 1
        // A verified one stays open until its receipt is written.
        if case .verified = outcome { return }
        finish(call, isOver ? .final : .kept)
    }

    package mutating func acknowledge(_ call: ReceiptCall, isWritten: Bool) {
        finish(call, isWritten ? .final : .again)
    }

    /// The instance starts again from its committed positions.
    package mutating func restart(_ pair: LinePair, from position: Int64) {
        unfinished[pair] = nil
        for place in stages.keys where place.pair == pair && place.offset >= position { stages[place] = .again }
    }

    package mutating func commit(_ pair: LinePair, _ position: Int64) {
        if let first = unfinished[pair]?.min(), position > first {
            breaches.append("\(pair): \(position) is committed while \(first) is not done")
        }
    }

    package func isDone(_ pair: LinePair, _ offset: Int64) -> Bool {
        if case .final = stages[Place(pair: pair, offset: offset)] { true } else { false }
    }

    package mutating func note(_ text: String) { breaches.append(text) }

    /// Whether every window of the calls has as many as the rate allows in it and in the clock's millisecond, and one.
    package static func keepsRate(_ times: [EvaluationTime], callsPerSecond: Double) -> Bool {
        let interval = 1_000 / callsPerSecond
        // How far a call may be ahead of equal distances from any call before it.
        var latest = -Double.infinity
        for (index, time) in times.enumerated() {
            let ahead = Double(time.milliseconds) - Double(index) * interval
            if latest - ahead > 1.0001 { return false }
            latest = max(latest, ahead)
        }
        return true
    }

    private mutating func finish(_ call: ReceiptCall, _ stage: Stage) {
        let place = Place(pair: call.pair, offset: call.offset)
        stages[place] = stage
        if case .final = stage { unfinished[call.pair]?.remove(call.offset) }
    }

    private mutating func note(_ text: String, _ place: Place) {
        breaches.append("\(place.pair) \(place.offset) is called \(text)")
    }
}
