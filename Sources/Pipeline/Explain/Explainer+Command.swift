internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Log

/// Operators' commands, each check in Admit's order.
extension Explainer {
    func judge(_ command: OperatorCommand, _ look: inout SecondLook) {
        let judged = OpenedChallenge.judge(
            issuedAt: command.issuedAt,
            ttl: OperatorCommand.lifeMilliseconds,
            at: look.state.streamTime
        )
        var failure: Reason?
        if case .failure(let reason) = judged { failure = reason }
        let minutes = OperatorCommand.lifeMilliseconds / 60_000
        let ahead = SecretRing<ChallengeKey>.toleranceMilliseconds / 60_000
        let expected = "within \(minutes) min before the stream time, or \(ahead) min after it"
        let row = Comparison("issued at", .time(command.issuedAt), expected: .text(expected))
        look.walk.add("command's age", failure, row)
        let use = Comparison("uses", look.state.command == nil ? "none" : "one", expected: "none")
        look.walk.add("command's first use", look.state.command == nil, else: .challengeConsumed, use)
    }

    /// A genuine command for another place.
    func place(_ command: OperatorCommand, of record: DecodedRecord, _ walk: inout CheckWalk) {
        let inbound = record.record
        if let partition = command.partition {
            let presented = ReportValue.number(Int64(inbound.partition))
            let row = Comparison("partition", presented, expected: .number(Int64(partition)))
            walk.add("partition of the command", partition == inbound.partition, else: .keyMismatch, row)
        }
        guard let required = command.requiredRecordKey else { return }
        place(inbound, requiring: required, &walk)
    }
}
