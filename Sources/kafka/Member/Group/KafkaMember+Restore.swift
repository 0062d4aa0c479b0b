package import KafkaPorts
internal import Pipeline
package import Streams

extension KafkaMember {
    /// The loop is ready for the ledgers of the partitions in the last announcement.
    ///
    /// Where they are being taken over again, or were taken away, nothing is read: the loop hears of that next.
    ///
    /// - Parameter kept: those whose ledger it still has as of its last commit, or restore, here.
    package func restore(kept: Set<Int32>, of announcement: Generation, at now: Moment) {
        guard announcement == self.announcement else { return }
        partitions.forEach { $0.noteTaken() }
        guard membership.state == .owning, partitions.all.allSatisfy({ $0.state == .asked }) else { return }
        closeReader()
        reader = LedgerReader(known: ledgers.of(kept), at: now)
        assert(reader?.port == nil && reader?.query == nil, "the restore before has given up its reader")
        partitions.takeAll(.restore)
        try? advanceRestore(at: now)
    }

    /// Reads on, at most so many records; waits at most so many milliseconds for the first one.
    package func readLedgers(most records: Int, waiting milliseconds: Int, at now: Moment) throws -> [PartitionEvent] {
        try step(at: now, servesGroup: true)
        guard changes.isEmpty, reader != nil else { return nextChange() }
        let copied = try readFiles(records, at: now)
        let wait = isAwaiting || copied != nil ? 0 : milliseconds
        let chunk = reading.isEmpty ? StoredRecords() : try readOn(records, wait, at: now)
        guard var reader else { return [] }
        let outcomes = reader.takeOutcomes()
        self.reader = reader
        let left = remaining.values.reduce(Int64(unasked.count), +)
        var events = outcomes.copied.map { PartitionEvent.ledgerCopied($0) }
        events += outcomes.dropped.map { .ledgerDropped($0) }
        if let copied, !copied.isEmpty { events.append(.ledger(copied, left: left)) }
        events.append(.ledger(chunk, left: left))
        for damage in outcomes.damaged { events += held(damage) }
        events += outcomes.given.map { .ledgerGiven($0) }
        if isRestored {
            settings.restored(reader.records)
            closeReader()
        }
        return events
    }

    /// A late answer to its question belongs to a restore that is over.
    func closeReader() {
        if let query = reader?.query { ports.queries.forget(query) }
        reader?.close()
        reader = nil
    }

    private var unasked: [Int32] {
        partitions.those { $0 == .restoring(.endsUnknown) }.map(\.number)
    }

    private var isRestored: Bool { unasked.isEmpty && reading.isEmpty }

    /// Offsets left to read of each partition whose end is known.
    var remaining: [Int32: Int64] {
        partitions.all.reduce(into: [:]) { remaining, partition in
            guard case .restoring(.reading(let next, let target)) = partition.state else { return }
            remaining[partition.number] = max(0, target - next)
        }
    }

    var reading: [Int32] {
        partitions.those { if case .restoring(.reading) = $0 { true } else { false } }.map(\.number)
    }

    // MARK: Ends

    /// Asks for the ends that are missing, and once more where nothing comes any more.
    func advanceRestore(at now: Moment) throws {
        guard !isQuerying, var reader, reader.pause.isOver(at: now) else { return }
        let (unasked, reading) = (unasked, reading)
        reader.asksAgain = !reading.isEmpty && reader.isStill(at: now)
        guard !unasked.isEmpty || reader.asksAgain else { return }
        reader.query = ports.queries.ask(.ends(unasked, again: reader.asksAgain ? reader.inTurn(reading) : []))
        self.reader = reader
    }

    func takeEnds(_ answer: Result<BrokerAnswer, KafkaFault>, at now: Moment) throws {
        reader?.query = nil
        if reader?.asksAgain == true { reader?.moved = now }
        let fault: KafkaFault?
        switch answer {
        case .success(.ends(let ledger, let requests, let partial)):
            fault = partial
            try begin(ledger, requests, at: now)
        case .success: fault = nil
        case .failure(let failure): fault = failure
        }
        guard let fault else {
            reader?.pause.succeed()
            return
        }
        reader?.pause.fail(at: now)
        guard fault.isRecoverable else { throw settings.explain(fault, settings.ledger) }
        note(fault)
    }

    private func begin(_ ends: [Int32: Watermarks], _ requests: [Int32: Watermarks], at now: Moment) throws {
        for (number, ends) in requests.sorted(by: { $0.key < $1.key }) {
            partitions.with(number) { $0.requestEnds = ends }
        }
        var starts: [PartitionOffset] = []
        for (number, ends) in ends.sorted(by: { $0.key < $1.key }) {
            switch partitions[number]?.state {
            case .restoring(.endsUnknown): begin(number, ends, &starts)
            case .restoring(.reading(_, let target)) where ends.high < target:
                return cut(number, target, ends.high)
            default: break
            }
        }
        guard !starts.isEmpty else { return }
        reader?.moved = now
        try start(starts)
    }

    private func begin(_ number: Int32, _ ends: Watermarks, _ starts: inout [PartitionOffset]) {
        var (start, source) = (ends.low, LedgerSource.topic)
        if let end = reader?.known.ends[number] {
            // The newest known mark is read again, or one that has superseded it.
            if let mark = reader?.known.marks[number], let identity = mark.identity, proves(mark),
                mark.offset >= ends.low, end <= ends.high
            {
                (start, source) = (mark.offset, standby.handedOver.contains(number) ? .standby : .kept)
                reader?.unproven[number] = identity
            } else {
                // The topic ends before the known offset, as after an unclean election, or nothing proves that it is the
                // one that is known. It is read from the beginning.
                reader?.outcomes.dropped.append(number)
            }
        } else if let file = openFile(of: number, ends) {
            (start, source) = (file.from, .snapshot)
        }
        reader?.sources[number] = source
        partitions.take(.ledgerProgress(.reading(next: start, target: ends.high)), number)
        if start < ends.high, source != .snapshot { starts.append(PartitionOffset(partition: number, offset: start)) }
    }

    private func finish(_ number: Int32, at target: Int64) {
        precondition(reader?.isProven(number) == true, "a kept ledger is whole once a mark has proven it")
        partitions.take(.ledgerProgress(.given(target: target)), number)
        ledgers.note(target, reader?.marks[number], of: number)
        if let writer = ledgers.writers[number], writer != transactionalID { orphans.suspect(writer) }
        standby.handedOver.remove(number)
        if let source = reader?.sources[number] {
            restores[source, default: 0] += 1
            settings.restoredFrom(source)
        }
        reader?.outcomes.given.append(number)
    }

    /// Starts again after a partition was cut: what was read of it does not count.
    private func cut(_ number: Int32, _ target: Int64, _ end: Int64) {
        note(
            .stale(
                "the ledger topic's partition \(number) ended at \(target) when its restore began and ends at \(end) now: "
                    + "truncated or recreated; it is read again"
            )
        )
        takeOverAgain()
    }

    /// The newest mark is of another line than the kept ledger's: the topic was recreated, cut, reset, or written on by an
    /// older version.
    private func readWhole(_ numbers: Set<Int32>) {
        let list = numbers.sorted().map { "\($0)" }.joined(separator: ", ")
        note(.stale("the ledger topic is another one than before (partitions \(list)): it is read from its beginning"))
        ledgers.distrust(numbers)
        takeOverAgain()
    }

    // MARK: Records

    func start(_ starts: [PartitionOffset]) throws {
        do throws(KafkaFault) {
            let port = if let port = reader?.port { port } else { try ports.makeReader() }
            reader?.port = port
            try port.start(starts)
        } catch { try readAgain(error) }
    }

    private func readOn(_ records: Int, _ wait: Int, at now: Moment) throws -> StoredRecords {
        var (chunk, foreign): (StoredRecords, [Int32]) = (StoredRecords(), [])
        do throws(KafkaFault) {
            if let port = reader?.port { chunk = wanted(try port.poll(most: records, waiting: wait)) }
            reader?.records += chunk.count
            foreign = try advance(at: now)
        } catch {
            guard error.isDamage, let number = error.partition,
                case .restoring(.reading(let next, _)) = partitions[number]?.state
            else {
                try readAgain(error)
                return chunk
            }
            try readAgain(number, error, at: next)
        }
        for number in foreign { try dropFile(of: number, "the topic is another one than when it was written", at: now) }
        return chunk.without(foreign)
    }

    /// Moves the positions; partitions that have reached their targets are given.
    ///
    /// - Returns: those whose file is of another line than the topic.
    private func advance(at now: Moment) throws(KafkaFault) -> [Int32] {
        let port = reader?.port
        var (given, lost): ([Int32], Set<Int32>) = ([], [])
        for number in reading where reader?.files[number] == nil {
            guard let partition = partitions[number], case .restoring(.reading(let next, let target)) = partition.state
            else { continue }
            // One with nothing to read is not begun.
            let position = port?.position(of: number) ?? next
            if position != next { reader?.moved = now }
            let isAtEnd = position >= target || port?.isAtEnd(of: number) ?? false
            reader?.note(number, moves: position != next || !isAtEnd, at: now)
            partitions.take(.ledgerProgress(.reading(next: position, target: target)), number)
            guard position >= target, partition.isOffsetKnown else { continue }
            guard reader?.isProven(number) == true else {
                lost.insert(number)
                continue
            }
            finish(number, at: target)
            given.append(number)
        }
        let foreign = lost.filter { reader?.sources[$0] == .snapshot }.sorted()
        if !given.isEmpty || !foreign.isEmpty { try port?.stop(given + foreign) }
        if foreign.count < lost.count { readWhole(lost.subtracting(foreign)) }
        return reader == nil ? [] : foreign
    }

    /// Records up to the ends that were asked for: this process may have written what follows them.
    private func wanted(_ chunk: LedgerChunk) -> StoredRecords {
        var places: [StoredRecords.Place] = []
        places.reserveCapacity(chunk.offsets.count)
        var last: (partition: Int32, target: Int64) = (-1, 0)
        for (place, offset) in zip(chunk.records.places, chunk.offsets) {
            // Records come in runs of one partition.
            if place.partition != last.partition { last = (place.partition, target(of: place.partition)) }
            guard offset < last.target else { continue }
            places.append(place)
            if place.key.count == 1 { noteMark(place, at: offset, chunk.records.bytes) }
        }
        return StoredRecords(bytes: chunk.records.bytes, places: places)
    }

    /// Whose transaction may be open behind it, the newest mark tells; one of another group says nothing.
    private func noteMark(_ place: StoredRecords.Place, at offset: Int64, _ bytes: [UInt8]) {
        guard let (known, position) = mark(place, at: offset, bytes) else { return }
        reader?.marks[place.partition] = known
        guard let position else { return }
        ledgers.writers[place.partition] = position.group == group ? position.writer : nil
    }

    /// - Returns: nil where the record is not a mark; no position for one that cannot be read, or that was forgotten.
    func mark(
        _ place: StoredRecords.Place,
        at offset: Int64,
        _ bytes: [UInt8]
    ) -> (mark: LedgerMark, position: PositionMark?)? {
        let key = Array(bytes[place.key])
        guard LedgerCodec.kind(of: key) == .mark else { return nil }
        let change = try? LedgerCodec.decode(key: key, value: place.value.map { Array(bytes[$0]) })
        guard case .mark(let mark) = change else { return (LedgerMark(offset: offset, identity: nil), nil) }
        return (LedgerMark(offset: offset, identity: mark.position.identity), mark.position)
    }

    private func target(of number: Int32) -> Int64 {
        if case .restoring(.reading(_, let target)) = partitions[number]?.state { target } else { 0 }
    }

    /// The library has skipped what it could not read: records after the gap must not be taken for the next ones.
    private func readAgain(_ number: Int32, _ fault: KafkaFault, at next: Int64) throws {
        if partitions.with(number, { $0.ledgerDamage.note(at: next) }) == true {
            partitions.take(.hold, number)
            _ = consumer.pause([number])
            reader?.outcomes.damaged.append(PartitionDamage(partition: number, cause: fault.message, isLedger: true))
        }
        reader?.close()
        reader?.port = nil
        let starts = partitions.all.compactMap { partition -> PartitionOffset? in
            guard case .restoring(.reading(let next, _)) = partition.state, reader?.files[partition.number] == nil
            else { return nil }
            return PartitionOffset(partition: partition.number, offset: next)
        }
        if !starts.isEmpty { try start(starts) }
    }

    /// An offset that is gone, for example: everything is read again.
    private func readAgain(_ fault: KafkaFault) throws {
        guard !fault.isRefusal || fault.mayHeal else { throw settings.explain(fault, settings.ledger) }
        note(fault)
        takeOverAgain()
    }
}
