internal import Dispatch
internal import Kafka
internal import KafkaPorts
internal import Pipeline

/// Questions to the broker, one after the other on a thread of their own, so that the thread that waits for an answer
/// can serve the group. Each has its own time-out, so that none pile up behind a silent broker.
final class Questions: Sendable {
    /// How long a question may wait for the broker.
    static let lookupMilliseconds = 5_000

    private let queue = DispatchQueue(label: "questions")

    func ask<Answer>(_ body: @escaping @Sendable () throws(KafkaFault) -> Answer) -> Question<Answer> {
        let question = Question<Answer>()
        queue.async { [weak question] in
            // No caller waits for it any more.
            guard let question else { return }
            do throws(KafkaFault) { question.set(.success(try body())) } catch { question.set(.failure(error)) }
        }
        return question
    }

    /// Pauses the calling thread.
    static func rest(_ milliseconds: Int) {
        guard milliseconds > 0 else { return }
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(milliseconds))
    }
}

/// A question that was asked. The answer goes from the asking thread to the waiting one.
final class Question<Answer>: @unchecked Sendable {
    private let result = Locked<Result<Answer, KafkaFault>?>(nil)
    private let bell = DispatchSemaphore(value: 0)

    fileprivate func set(_ result: Result<Answer, KafkaFault>) {
        self.result.withLock { $0 = result }
        bell.signal()
    }

    /// The answer; nil where it did not come in so many milliseconds.
    func answer(_ milliseconds: Int) throws(KafkaFault) -> Answer? {
        if result.withLock({ $0 == nil }) { _ = bell.wait(timeout: .now() + .milliseconds(milliseconds)) }
        switch result.withLock({ $0 }) {
        case nil: return nil
        case .success(let answer)?: return answer
        case .failure(let fault)?: throw fault
        }
    }
}
