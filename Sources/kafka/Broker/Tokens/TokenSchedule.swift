internal import Kafka
internal import Settings

/// Decides when a token command runs and what the log says about it. Times are milliseconds since 1970.
struct TokenSchedule {
    /// A new token is asked for once this share of the present one's life is over.
    private static let usedShare = 0.8
    /// Pauses after failures in a row: the last one goes on.
    private static let pauses: [Int64] = [1_000, 2_000, 5_000, 10_000]
    /// The least time between two runs that refusals ask for.
    private static let refusalPause: Int64 = 10_000

    private var next = Int64.min
    /// The last run's begin.
    private var last = Int64.max
    private var failures = 0
    /// The words of the last logged reason since the command began to fail.
    private var told: [Substring]?
    /// The end of the present token.
    private var end = Int64.min

    /// - Parameter isRefused: whether a broker has refused the present token.
    func isDue(at now: Int64, isRefused: Bool) -> Bool {
        // A clock that was set back would leave `next` far ahead.
        now >= next || now < last || (isRefused && now - last >= Self.refusalPause)
    }

    /// The outcome of a run.
    ///
    /// - Parameter begin: of the run.
    /// - Returns: the line to be logged, and whether it tells of a fault; nil where it says nothing new.
    mutating func note(
        _ outcome: Result<BearerToken, ProgramFault>,
        begin: Int64,
        at now: Int64
    ) -> (line: String, isFault: Bool)? {
        last = begin
        switch outcome {
        case .success(let token):
            defer { (failures, told, end) = (0, nil, token.end) }
            next = now + max(Self.pauses[0], Int64(Self.usedShare * Double(token.end - now)))
            return failures > 0 ? ("\(KafkaProperties.tokenCommand) gives tokens again", false) : nil
        case .failure(let fault):
            defer { failures += 1 }
            next = now + Self.pauses[min(failures, Self.pauses.count - 1)]
            // A number may be of the one attempt: a time, a request.
            let reason = fault.clause.split(separator: " ").filter { !$0.contains(where: \.isNumber) }
            guard reason != told else { return nil }
            told = reason
            let rest = hasToken(at: now) ? "the present token ends in \((end - now) / 1000) s" : "there is no token"
            return (
                "\(KafkaProperties.tokenCommand) \(fault.clause); \(rest), and it is run again until it gives one", true
            )
        }
    }

    /// Whether the present token has life left.
    func hasToken(at now: Int64) -> Bool { now < end }
}
