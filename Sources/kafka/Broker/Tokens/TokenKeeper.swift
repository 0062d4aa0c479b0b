internal import Dispatch
internal import Kafka
internal import Settings
internal import Threads

/// Runs a token command before each token ends, for as long as the process lives, and hands the tokens to its clients.
///
/// The command has a queue to itself: however long it hangs, no client and no loop waits for it.
final class TokenKeeper: @unchecked Sendable {
    private static let lookSeconds = 1.0
    private static let kept = Locked<Set<String>>([])

    private let queue = DispatchQueue(owner: "tokens")
    private let arguments: [String]
    private let tokens: ClientTokens
    // Used on the queue alone.
    private var schedule = TokenSchedule()

    /// Begins to run a command. Later calls for the same one change nothing.
    static func keep(_ command: String) {
        guard kept.withLock({ $0.insert(command).inserted }) else { return }
        let keeper = TokenKeeper(command)
        keeper.queue.async { keeper.look() }
    }

    private init(_ command: String) {
        arguments = command.split(separator: " ").map(String.init)
        tokens = ClientTokens.of(command)
    }

    private func look() {
        if schedule.isDue(at: WallClock.milliseconds(), isRefused: tokens.hasRefusal) { run() }
        queue.asyncAfter(deadline: .now() + Self.lookSeconds) { self.look() }
    }

    private func run() {
        let begin = WallClock.milliseconds()
        let outcome = Result { () throws(ProgramFault) in
            try BearerToken(printed: ProgramOutput.run(arguments: arguments), now: WallClock.milliseconds())
        }
        let now = WallClock.milliseconds()
        switch outcome {
        case .success(let token): tokens.set(token)
        // With a token left, no connection is lost.
        case .failure(let fault) where !schedule.hasToken(at: now):
            tokens.fail("\(KafkaProperties.tokenCommand) \(fault.clause)")
        case .failure: break
        }
        guard let news = schedule.note(outcome, begin: begin, at: now) else { return }
        ClientLog.tell(news.line, isFault: news.isFault)
    }
}
