package import AppAttest

/// A line's reading of one partition: records in offset order, of which the head waits until it is due; visits that end
/// out of order; and the position that may be committed.
package struct LinePartition: Sendable {
    /// Records that are read ahead of the head.
    package static let mostPrefetched = 64
    /// Visits that wait for another time. With so many the head waits too: that bounds memory, and what is read again.
    package static let mostKept = 1_000

    private enum Stage: Equatable {
        case waiting, open, ended
        case kept(until: EvaluationTime)
    }

    private struct Slot {
        let offset: Int64
        let due: EvaluationTime
        let appointment: LineAppointment
        var keptBefore = 0
        var refusedBefore = 0
        var stage = Stage.waiting

        var visit: LineVisit {
            LineVisit(
                offset: offset,
                due: due,
                keptBefore: keptBefore,
                refusedBefore: refusedBefore,
                appointment: appointment
            )
        }

        func isKept(until time: EvaluationTime) -> Bool {
            if case .kept(let until) = stage { until <= time } else { false }
        }
    }

    package let line: ReceiptLine
    private let settings: LineSettings
    /// Visits in the order of their offsets; those before `start` have ended.
    private var slots: [Slot] = []
    private var start = 0
    /// The head: the first visit that waits for its turn.
    private var cursor = 0
    private var nextOffset: Int64
    private var keptCount = 0
    /// The earliest time at which a kept visit is due.
    private var nextKept = EvaluationTime.never

    /// - Parameter offset: the committed position, from which on records come.
    package init(_ line: ReceiptLine, from offset: Int64, settings: LineSettings) {
        (self.line, nextOffset, self.settings) = (line, offset, settings)
    }

    /// The first record whose visit has not ended, or the end of what was read: what is before it is never read again.
    package var position: Int64 { start < slots.count ? slots[start].offset : nextOffset }

    /// How many records may be appended: a partition without room is not read.
    package var room: Int { Self.mostPrefetched - (slots.count - cursor) }

    /// Visits between the position and the last one that was read, ended ones among them: what holds the position back
    /// lets them grow.
    package var spannedCount: Int { slots.count - start }

    /// Visits that are begun, or kept for another time.
    package var unfinishedCount: Int { slots[start..<cursor].count { $0.stage != .ended } }

    /// When the oldest visit that has not ended is or was due, whatever it is kept for; nil while there is none.
    package var oldestDue: EvaluationTime? { start < slots.count ? slots[start].due : nil }

    /// When the next visit is or was due; nil while there is none.
    package var next: EvaluationTime? {
        let head = cursor < slots.count && keptCount < Self.mostKept ? slots[cursor].due : .never
        let next = min(head, nextKept)
        return next == .never ? nil : next
    }

    /// Takes the next record. One that this line never visits needs no place.
    ///
    /// - Precondition: there is room, and offsets grow; compaction leaves gaps.
    package mutating func append(_ record: LineRecord) {
        precondition(record.offset >= nextOffset, "records come in the order of their offsets")
        nextOffset = record.offset + 1
        guard let appointment = record.appointment, line.takes(appointment.dates.type) else { return }
        let due = line.due(appointment.dates, settings)
        guard !appointment.dates.isExpired(at: due) else { return }
        precondition(room > 0, "a partition without room is not read")
        slots.append(Slot(offset: record.offset, due: due, appointment: appointment))
    }

    /// The visit that should begin now: a kept one before the head. Expired receipts are passed.
    package mutating func dueVisit(at time: EvaluationTime) -> LineVisit? {
        while let index = dueIndex(at: time) {
            guard slots[index].appointment.dates.isExpired(at: time) else { return slots[index].visit }
            move(index, to: .ended)
        }
        return nil
    }

    /// The visit of an account that was kept least often among those that could begin now.
    package func leastKept(of account: CallAccount, at time: EvaluationTime) -> LineVisit? {
        var least: Int?
        func consider(_ index: Int) {
            let slot = slots[index]
            guard slot.appointment.account == account, !slot.appointment.dates.isExpired(at: time) else { return }
            if let best = least, slots[best].keptBefore <= slot.keptBefore { return }
            least = index
        }
        for index in start..<cursor where slots[index].isKept(until: time) { consider(index) }
        if isHeadDue(at: time) { consider(cursor) }
        return least.map { slots[$0].visit }
    }

    /// Begins the visit that ``dueVisit(at:)`` or ``leastKept(of:at:)`` named.
    package mutating func begin(_ offset: Int64) { move(place(of: offset), to: .open) }

    /// Puts the visit that ``dueVisit(at:)`` named aside, and with it every kept one of its account that is due: those
    /// behind them may go first. All in one pass, since after an outage all are due at once.
    package mutating func putAside(_ offset: Int64, until time: EvaluationTime, at now: EvaluationTime) {
        let index = place(of: offset)
        if slots[index].stage == .waiting { return move(index, to: .kept(until: time)) }
        let account = slots[index].appointment.account
        for index in start..<cursor where slots[index].isKept(until: now) {
            guard slots[index].appointment.account == account else { continue }
            slots[index].stage = .kept(until: time)
        }
        nextKept = earliestKept()
    }

    /// Ends a visit that was begun.
    package mutating func end(_ offset: Int64, _ end: VisitEnd) {
        let index = place(of: offset)
        precondition(slots[index].stage == .open, "a visit ends once, after it began")
        switch end {
        case .done: move(index, to: .ended)
        case .kept(let time), .refused(let time):
            slots[index].keptBefore += 1
            if case .refused = end { slots[index].refusedBefore += 1 }
            move(index, to: .kept(until: time))
        }
    }

    /// Makes the kept visits of an account due, as those of a breaker that has closed. Receipts that were refused by
    /// their own fault wait for their own time: they would open it again.
    package mutating func resume(_ account: CallAccount, at time: EvaluationTime) {
        for index in start..<cursor where slots[index].appointment.account == account {
            guard slots[index].refusedBefore == 0 else { continue }
            guard case .kept(let until) = slots[index].stage, until > time else { continue }
            slots[index].stage = .kept(until: time)
            nextKept = min(nextKept, time)
        }
    }

    private func dueIndex(at time: EvaluationTime) -> Int? {
        if nextKept <= time { return slots[start..<cursor].firstIndex { $0.isKept(until: time) } }
        return isHeadDue(at: time) ? cursor : nil
    }

    private func isHeadDue(at time: EvaluationTime) -> Bool {
        cursor < slots.count && keptCount < Self.mostKept && slots[cursor].due <= time
    }

    private mutating func move(_ index: Int, to stage: Stage) {
        let before = slots[index].stage
        precondition(before != .waiting || index == cursor, "only the head leaves the queue")
        slots[index].stage = stage
        if before == .waiting { cursor += 1 }
        if case .kept(let until) = before {
            keptCount -= 1
            // Others may be due at the same time.
            if until == nextKept || keptCount == 0 { nextKept = earliestKept() }
        }
        if case .kept(let until) = stage {
            keptCount += 1
            nextKept = min(nextKept, until)
        }
        if stage == .ended { trim() }
    }

    private func earliestKept() -> EvaluationTime {
        guard keptCount > 0 else { return .never }
        return slots[start..<cursor].reduce(.never) { earliest, slot in
            if case .kept(let until) = slot.stage { min(earliest, until) } else { earliest }
        }
    }

    /// Forgets ended visits at the front; in steps, so that each is moved once.
    private mutating func trim() {
        while start < cursor, slots[start].stage == .ended { start += 1 }
        guard start == slots.count || start >= 256 else { return }
        slots.removeSubrange(..<start)
        cursor -= start
        start = 0
    }

    private func place(of offset: Int64) -> Int {
        var (low, high) = (start, slots.count)
        while low < high {
            let middle = (low + high) / 2
            if slots[middle].offset < offset { low = middle + 1 } else { high = middle }
        }
        precondition(low < slots.count && slots[low].offset == offset, "a visit is of a record that was appended")
        return low
    }
}
