package import KafkaPorts
internal import Pipeline
package import Streams

/// A standby reads the ledgers that would become its own if one machine were gone. To the loop such a ledger is a kept
/// one; it is taken over as those are, from its newest mark on, and proven by the mark's identity.
extension KafkaMember {
    /// Reads on in the ledgers of others, at most so many records. Our own partitions come first.
    ///
    /// - Parameters:
    ///   - mayWait: some milliseconds, where more is known to be there.
    ///   - kept: the partitions whose ledgers the loop keeps.
    ///   - reading: those that it has as far as they came.
    package func readStandby(
        most records: Int,
        mayWait: Bool,
        kept: Set<Int32>,
        reading: Set<Int32>,
        at now: Moment
    ) -> [StandbyEvent] {
        guard let loops = settings.standbyLoops, let count = settings.partitions, membership.state == .owning,
            changes.isEmpty, reader == nil || partitions.isEmpty
        else { return [] }
        standby.want(besides: partitions.numbers, of: count, loops: loops)
        var events: [StandbyEvent] = []
        chooseStandby(kept, reading, &events, at: now)
        do throws(KafkaFault) {
            try beginStandby(kept, &events, at: now)
            try readStandby(records, mayWait, &events)
            noteStandby(&events, at: now)
        } catch { rideOutStandby(error, &events, at: now) }
        return events
    }

    /// Whether ledgers of others are followed.
    package var follows: Bool { settings.standbyLoops != nil && settings.partitions != nil }

    /// Offsets of followed ledgers that are left to read, as of the last answer about their ends.
    var standbyLag: [Int32: Int64] { standby.parts.mapValues(\.lag) }

    /// Stops what is not wanted, what the loop has given up and what takes too long, and asks for the ends.
    private func chooseStandby(
        _ kept: Set<Int32>,
        _ reading: Set<Int32>,
        _ events: inout [StandbyEvent],
        at now: Moment
    ) {
        let wanted = standby.wanted.others
        for number in standby.numbers {
            guard let part = standby.parts[number] else { continue }
            let isLate = reading.contains(number) && now - part.fresh > StandbyReader.mostMilliseconds
            if wanted.contains(number), !isLate, kept.contains(number) || reading.contains(number) { continue }
            // A kept ledger that is not wanted any more grows old.
            standby.leave(number)
            // The others have their turn.
            if isLate { standby.putAside(number, at: now, for: StandbyReader.lateMilliseconds) }
        }
        events += reading.filter { standby.parts[$0] == nil }.sorted().map { .left($0) }
        if standby.parts.isEmpty { standby.close() }
        guard !isQuerying, look == .none, standby.ends.isEmpty, standby.pause.isOver(at: now) else { return }
        let due = standby.due(at: now)
        if !due.isEmpty { standby.query = ports.queries.ask(.ledgerEnds(due)) }
    }

    /// Another member's partitions that are ours now are read as such.
    func endStandby(of numbers: [Int32]) {
        standby.handedOver = Set(numbers.filter { standby.parts[$0]?.isWhole == true })
        for number in numbers { standby.leave(number) }
    }

    func takeStandbyEnds(_ answer: Result<BrokerAnswer, KafkaFault>, at now: Moment) {
        guard case .success(.ends(let ledger, _, _)) = answer else {
            return standby.noteAnswer(isComplete: false, at: now)
        }
        standby.noteAnswer(isComplete: true, at: now)
        standby.ends = ledger
    }

    private func beginStandby(
        _ kept: Set<Int32>,
        _ events: inout [StandbyEvent],
        at now: Moment
    ) throws(KafkaFault) {
        let ends = standby.ends
        standby.ends = [:]
        for number in standby.wanted.others where !standby.isAside(number, at: now) {
            guard let ends = ends[number] else { continue }
            guard let part = standby.parts[number] else {
                try begin(number, ends, isKept: kept.contains(number), &events, at: now)
                continue
            }
            standby.parts[number]?.noteEnd(ends.high)
            guard ends.high < part.asked else { continue }
            // The topic was cut: what it has instead is read from its beginning.
            events.append(.emptied(number))
            standby.leave(number)
        }
        guard standby.port == nil, !standby.parts.isEmpty, standby.pause.isOver(at: now) else { return }
        let port = try ports.makeStandbyReader()
        standby.port = port
        try port.start(
            standby.numbers.map { PartitionOffset(partition: $0, offset: standby.parts[$0]?.next ?? 0) }
        )
    }

    /// A ledger that the loop keeps is read on from its newest mark, as one that returns.
    private func begin(
        _ number: Int32,
        _ ends: Watermarks,
        isKept: Bool,
        _ events: inout [StandbyEvent],
        at now: Moment
    ) throws(KafkaFault) {
        // What is known to be lost is not proven by a mark.
        guard ledgers.ends[number] != .max else { return standby.putAside(number, at: now) }
        let part: StandbyReader.Part
        if isKept, let mark = ledgers.marks[number], proves(mark), mark.offset >= ends.low,
            let end = ledgers.ends[number], end <= ends.high
        {
            part = StandbyReader.Part(next: mark.offset, end: ends.high, from: mark, at: now)
        } else {
            guard standby.mayBegin else { return }
            part = StandbyReader.Part(next: ends.low, end: ends.high, at: now)
            events.append(.emptied(number))
        }
        standby.parts[number] = part
        try standby.port?.start([PartitionOffset(partition: number, offset: part.next)])
    }

    /// Whether what follows a mark was delivered as we deliver: a ledger that is read on in the order of transactions must
    /// not meet a record that was delivered late.
    func proves(_ mark: LedgerMark?) -> Bool {
        return mark?.identity.map { KnownLedgers.isOfKind($0, isAtomic: isAtomic) } ?? false
    }

    // MARK: Records

    private func readStandby(
        _ records: Int,
        _ mayWait: Bool,
        _ events: inout [StandbyEvent]
    ) throws(KafkaFault) {
        guard let port = standby.port else { return }
        let waits = mayWait && standby.isBehind && !standby.isDry
        let chunk = try port.poll(most: records, waiting: waits ? StandbyReader.waitMilliseconds : 0)
        standby.isDry = chunk.offsets.isEmpty
        var (places, foreign): ([StoredRecords.Place], [Int32]) = ([], [])
        for (place, offset) in zip(chunk.records.places, chunk.offsets) {
            guard let part = standby.parts[place.partition], !foreign.contains(place.partition) else { continue }
            places.append(place)
            guard place.key.count == 1, let mark = mark(place, at: offset, chunk.records.bytes)?.mark else { continue }
            // The marks of another line: the topic was made again, or reset, or the delivery is another one.
            let isOther = part.mark?.identity != nil && part.mark?.identity != mark.identity
            if isOther, part.isWhole || offset >= part.firstEnd { foreign.append(place.partition) }
            standby.parts[place.partition]?.mark = mark
        }
        if !places.isEmpty {
            standby.pause.succeed()
            events.append(.records(StoredRecords(bytes: chunk.records.bytes, places: places)))
        }
        events += foreign.map { .emptied($0) }
        for number in foreign { standby.leave(number) }
    }

    /// Moves the positions. What is known of a whole ledger is what the loop has of it by now.
    private func noteStandby(_ events: inout [StandbyEvent], at now: Moment) {
        guard let port = standby.port else { return }
        var current: [Int32] = []
        for number in standby.numbers {
            guard var part = standby.parts[number] else { continue }
            part.next = max(part.next, port.position(of: number) ?? part.next)
            // Where less is there than was known, the topic has lost records: a restore tells.
            let isThere = part.next >= ledgers.ends[number] ?? 0
            if !part.isWhole, isThere, part.next >= part.end, proves(part.mark) {
                part.isWhole = true
                events.append(.whole(number))
            }
            if part.isWhole, isThere { ledgers.note(part.next, part.mark, of: number) }
            if part.next >= part.end, part.isAnswered {
                (part.isAnswered, part.fresh) = (false, now)
                if part.isWhole, isThere { current.append(number) }
            }
            standby.parts[number] = part
        }
        if !current.isEmpty { events.append(.current(current)) }
    }

    /// Nothing that a standby meets may stop what is ours.
    private func rideOutStandby(_ fault: KafkaFault, _ events: inout [StandbyEvent], at now: Moment) {
        settings.trouble(fault)
        standby.close()
        standby.pause.fail(at: now)
        guard let number = fault.partition, let part = standby.parts[number] else { return }
        if !fault.isOffsetGone, part.fault != part.next {
            standby.parts[number]?.fault = part.next
            return
        }
        if fault.isDamage || fault.isOffsetGone { events.append(.emptied(number)) }
        standby.putAside(number, at: now)
    }
}
