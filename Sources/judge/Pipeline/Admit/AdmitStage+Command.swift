internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Streams

/// Operators' commands: each is applied once, in order with the requests around it.
extension AdmitStage {
    func command(
        _ authentic: AuthenticCommand,
        _ record: DecodedRecord,
        _ state: inout BatchState,
        _ trace: some CheckTracer
    ) -> Verdict {
        var verdict = Verdict(outcome: .accepted)
        let (partition, place) = (record.record.partition, record.placeDigest)
        let streamTime = state.streamTime(of: partition)
        let used = state.challenge(authentic.code, on: partition)
        if let used, used.request == place, streamTime < used.expiresAt {
            // Delivered again, with the requests before it: what they have done is undone in the same order.
            apply(authentic.command, at: record, &state)
            verdict.isRepeated = true
            return verdict
        }
        do throws(Reason) {
            // Genuine, but a copy: late, or at another place of the topic.
            let judged = OpenedChallenge.judge(
                issuedAt: authentic.command.issuedAt,
                ttl: OperatorCommand.lifeMilliseconds,
                at: streamTime
            )
            let alive = try trace.noted("command's age", judged) { .age(of: authentic.command) }
            try trace.check("command's first use", used == nil, else: Reason.challengeConsumed) {
                Comparison("uses", used == nil ? "none" : "one", expected: "none")
            }
            apply(authentic.command, at: record, &state)
            let use = ConsumedID(expiresAt: alive.expiresAt, request: place)
            state.consume(challenge: authentic.code, use, on: partition)
            let offset = record.record.offset
            state.note(OperatorAct(authentic.command, key: authentic.key, partition: partition, offset: offset))
            return verdict
        } catch {
            verdict.outcome = .refused(error, error.status(appID: nil))
            return verdict
        }
    }

    private func apply(_ command: OperatorCommand, at record: DecodedRecord, _ state: inout BatchState) {
        let partition = record.record.partition
        func ban(_ kind: Ban.Kind) -> Ban {
            Ban(kind, since: record.time, until: command.until, offset: record.record.offset)
        }
        switch (command.action, command.subject) {
        case (.ban, .key): state.set(ban(.key), of: command, on: partition)
        case (.ban, .installation): state.set(ban(.installation), of: command, on: partition)
        case (.unban, _):
            state.set(nil, of: command, on: partition)
        case (.forget, .key(let keyID)):
            state.forget(keyID, on: partition)
            if !command.keepsBan { state.set(nil, of: command, on: partition) }
        case (.forget, .installation): preconditionFailure("Decode lets no such command pass")
        }
    }

    /// Checks for a ban, before everything but the duplicates of accepted requests: what is wrong with a banned
    /// device's request does not matter.
    func checkBan(_ item: Admission<some CheckTracer>, _ state: inout BatchState) throws(Reason) {
        // The names are not even read where nothing is banned.
        let mayBeBanned = state.mayHaveBans(on: item.partition)
        let ban = mayBeBanned ? state.ban(of: item.record.keyID, item.record.installationID, on: item.partition) : nil
        try item.trace.check("ban", ban == nil, else: Reason.banned) { .ban(ban) }
    }

    /// Refuses a record that Decode found too old or too new.
    func checkAge(_ item: Admission<some CheckTracer>) throws(Reason) {
        if let reason = item.record.clockReason { throw item.trace.failed("age", reason) { nil } }
        item.trace.passed("age") { nil }
    }
}

extension DecodedRecord {
    /// Names the record among all others. A copy of a command has its id and its value too, but not its place.
    fileprivate var placeDigest: Digest {
        let place = Array("\(record.partition)/\(record.offset)".utf8)
        return valueDigest.withBytes { SHA256.hash($0, place.span) }
    }
}
