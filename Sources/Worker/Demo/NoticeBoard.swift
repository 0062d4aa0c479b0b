internal import Pipeline

/// News from the loop's queue for the thread that prints. The same line is not repeated.
final class NoticeBoard: Sendable {
    private let lines = Locked<(waiting: [String], last: String)>(([], ""))

    func post(_ line: String) {
        lines.withLock { state in
            guard line != state.last else { return }
            state.last = line
            state.waiting.append(line)
        }
    }

    func take() -> [String] {
        lines.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
