package import AppAttest

/// A refresher without its clients: records, answers and acknowledgements come in; calls, requests to write, positions
/// to commit and partitions to pause or to resume come out. Time and randomness are arguments.
package struct RefreshDriver {
    private let judge: any ReceiptJudge
    private var apps: Set<String>
    /// The App ID prefixes that a team's key speaks for.
    private(set) var prefixes: [String: Set<String>]
    private(set) var desk: RefreshDesk
    private var shelf: ReceiptShelf
    /// The calls and requests under way, by their numbers.
    private var open: [UInt: OpenCall] = [:]
    private var lastNumber: UInt = 0
    private var notices = NoticeList()
    package private(set) var counts = RefreshCounts()

    package init(_ settings: Settings, judge: any ReceiptJudge) {
        self.judge = judge
        apps = settings.apps
        prefixes = Self.prefixes(settings.keys)
        shelf = ReceiptShelf(mostBytes: settings.mostHeldBytes, mostSpanned: settings.mostSpanned)
        desk = RefreshDesk(
            lines: settings.lines,
            callsPerSecond: settings.callsPerSecond,
            partitions: settings.partitions,
            tokens: ProviderTokens(settings.keys)
        )
    }

    private static func prefixes(_ keys: [ProviderKey]) -> [String: Set<String>] {
        Dictionary(keys.map { ($0.team, $0.appIDPrefixes) }) { $1 }
    }

    /// Takes what a reload has changed. Where a receipt may have become another account's or app's, what is not done
    /// yet is read again, and judged by the new settings.
    package mutating func reload(
        keys: [ProviderKey],
        apps: Set<String>,
        callsPerSecond: Double,
        at time: EvaluationTime
    ) {
        let before = (self.apps, prefixes)
        (self.apps, prefixes) = (apps, Self.prefixes(keys))
        desk.change(callsPerSecond: callsPerSecond)
        desk.reload(keys, at: time)
        if before != (self.apps, prefixes) { readAgain() }
    }

    /// What is worth a line in the log since the last call.
    package mutating func takeNotices() -> [RefreshNotice] { notices.take() }
}

// MARK: - Partitions

extension RefreshDriver {
    package mutating func assign(_ pair: LinePair) {
        // Where it begins, its first record tells.
        desk.assign(pair, from: 0)
        shelf.readings[pair] = ReceiptShelf.Reading()
    }

    /// Forgets a pair. Calls under way go on: what Apple answers is written all the same.
    package mutating func revoke(_ pair: LinePair) {
        desk.revoke(pair)
        shelf.readings[pair] = nil
    }

    package var pairs: [LinePair] { desk.pairs }

    /// Forgets the visits that have not ended; their records come once more. Calls under way end first: their visits
    /// are not made twice.
    private mutating func readAgain() {
        for pair in desk.pairs {
            // One that was not read yet has nothing to forget, and no place to begin at.
            guard let next = shelf.readings[pair]?.next, next > 0, let position = desk.position(of: pair) else {
                continue
            }
            let calls = open.filter { $0.value.call.pair == pair && desk.owns($0.value.call) }
            desk.revoke(pair)
            desk.assign(pair, from: position)
            shelf.restart(pair, from: position, awaiting: Set(calls.keys))
        }
    }

    /// Takes a record. One that there is no room for is dropped: its partition is paused, and read again from there on
    /// when it resumes.
    package mutating func take(_ record: ReceiptRecord, of pair: LinePair, at time: EvaluationTime) {
        guard let reading = shelf.readings[pair], !reading.isPaused, record.offset >= reading.next,
            hasRoom(pair)
        else { return }
        shelf.readings[pair]?.next = record.offset.clampedAdding(1)
        let visit = reading.ended.contains(record.offset) ? nil : visit(record, pair, at: time)
        let before = desk.room(of: pair)
        let appointment = visit.map { LineAppointment(dates: $0.receipt.dates, account: $0.account) }
        desk.append(LineRecord(offset: record.offset, appointment: appointment), to: pair)
        // One that the line passes takes no room.
        if let visit, desk.room(of: pair) < before { shelf.put(visit.receipt, record.offset, pair) }
    }

    /// - Returns: nil for a record that is passed.
    private mutating func visit(
        _ record: ReceiptRecord,
        _ pair: LinePair,
        at time: EvaluationTime
    ) -> (receipt: HeldReceipt, account: CallAccount)? {
        do throws(HeldReceipt.Passed) {
            let receipt = try HeldReceipt(record, for: pair.line, apps: apps, judge: judge)
            guard let team = desk.tokens.team(forAppID: receipt.appID) else {
                notices.add(.unserved(prefix: receipt.prefix), at: time)
                return nil
            }
            return (receipt, CallAccount(team: team, environment: receipt.environment))
        } catch {
            if error == .unreadable { notices.add(.unreadable(pair, offset: record.offset), at: time) }
            return nil
        }
    }

    private func hasRoom(_ pair: LinePair) -> Bool {
        desk.room(of: pair) > 0 && !shelf.isFull(pair) && desk.spannedCount(of: pair) < shelf.spannedPart
    }

    /// The partitions of a line that must be paused or resumed now; those that resume are read from an offset on. One
    /// that is read again may be in both: it is paused first.
    package mutating func takeFlow(of line: ReceiptLine) -> (pause: [Int32], resume: [(partition: Int32, from: Int64)])
    {
        var flow: (pause: [Int32], resume: [(partition: Int32, from: Int64)]) = ([], [])
        for (pair, reading) in shelf.readings where pair.line == line {
            if reading.mustPause {
                shelf.readings[pair]?.mustPause = false
                flow.pause.append(pair.partition)
            }
            if reading.isPaused {
                guard desk.room(of: pair) >= LinePartition.mostPrefetched / 2, hasRoom(pair), shelf.isHalfFree(pair),
                    reading.awaited.isEmpty
                else { continue }
                flow.resume.append((pair.partition, reading.next))
            } else if !hasRoom(pair) {
                flow.pause.append(pair.partition)
            } else {
                continue
            }
            shelf.readings[pair]?.isPaused.toggle()
        }
        return flow
    }

    /// A partition could not be sought: it is paused, and tried again.
    package mutating func resumeFailed(_ pair: LinePair) { shelf.readings[pair]?.isPaused = true }

    /// The positions of a line that have moved since they were taken last.
    package mutating func takePositions(of line: ReceiptLine) -> [(partition: Int32, position: Int64)] {
        var moved: [(partition: Int32, position: Int64)] = []
        for (pair, reading) in shelf.readings where pair.line == line {
            guard let position = desk.position(of: pair), position > reading.committed else { continue }
            shelf.trim(pair, before: position)
            shelf.readings[pair]?.committed = position
            moved.append((pair.partition, position))
        }
        return moved
    }

    /// A commit has failed: the positions are taken again.
    package mutating func commitFailed(_ partitions: [Int32], of line: ReceiptLine) {
        for partition in partitions { shelf.readings[LinePair(line: line, partition: partition)]?.committed = 0 }
    }

    /// Bytes of the receipts in memory.
    package var heldBytes: Int { shelf.bytes }
}

// MARK: - Calls

extension RefreshDriver {
    /// The next call, or how long there is none.
    package mutating func next(at time: EvaluationTime) -> DriverStep {
        let step = desk.next(at: time)
        notices.checkRates(desk.bucket, at: time)
        switch step {
        case .wait(let until): return .wait(until: until)
        case .call(let call):
            guard let receipt = shelf.receipt(call.pair, call.visit.offset) else {
                preconditionFailure("a receipt is held until its visit has ended")
            }
            lastNumber += 1
            open[lastNumber] = OpenCall(call: call, receipt: receipt)
            return .call(
                DueCall(
                    number: lastNumber,
                    call: call,
                    environment: receipt.environment,
                    receipt: receipt.bytes
                )
            )
        }
    }

    /// A call has ended.
    ///
    /// - Returns: the request that must be written, if Apple has answered with a new receipt.
    package mutating func end(
        _ number: UInt,
        _ reply: CallReply,
        at time: EvaluationTime,
        using random: inout some RandomNumberGenerator
    ) -> VerifyRequest? {
        guard let open = open[number], !open.isWriting else { return nil }
        var received: [UInt8] = []
        let outcome = reply.outcome { bytes in
            received = bytes
            return judge.judge(bytes, to: open.receipt, at: time)
        }
        let answer = reply.answer
        let effect = desk.end(
            open.call,
            outcome,
            retryAfterMilliseconds: answer?.retryAfterMilliseconds,
            serverTime: answer?.serverTime,
            at: time,
            using: &random
        )
        counts.note(outcome, open.receipt.environment, at: time)
        notices.add(effect, outcome, open.call.account, answer, desk, at: time)
        guard effect.mustProduce else {
            close(number, open, isFinal: outcome.isFinal || effect.endsRefused)
            return nil
        }
        self.open[number]?.isWriting = true
        return VerifyRequest(number, open.receipt, received: received, partition: open.call.pair.partition)
    }

    /// What became of a request.
    ///
    /// - Parameter isWritten: false if the write failed or its outcome is unknown.
    package mutating func acknowledge(
        _ number: UInt,
        isWritten: Bool,
        at time: EvaluationTime,
        using random: inout some RandomNumberGenerator
    ) {
        guard let open = open[number], open.isWriting else { return }
        desk.acknowledge(open.call, isWritten: isWritten, at: time, using: &random)
        close(number, open, isFinal: isWritten)
    }

    private mutating func close(_ number: UInt, _ call: OpenCall, isFinal: Bool) {
        open[number] = nil
        // After a revocation the shelf may hold another reading of the same record; after a reload the visit is its own.
        let pair = call.call.pair
        let isAwaited = shelf.readings[pair]?.awaited.remove(number) != nil
        if isFinal, isAwaited || desk.owns(call.call) { shelf.end(pair, call.call.visit.offset) }
    }

    /// Calls and requests that have not ended.
    package var openCount: Int { open.count }
    /// Calls without an answer, by environment.
    package func inFlight(_ environment: Environment) -> Int {
        open.values.count { !$0.isWriting && $0.receipt.environment == environment }
    }
}
