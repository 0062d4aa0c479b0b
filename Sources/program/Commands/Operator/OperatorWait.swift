internal import Broker
internal import CommandFrame
internal import Kafka
internal import KafkaPorts
internal import Reports
internal import Settings
internal import Streams
internal import Study

/// The wait for the results of an operator's commands.
struct OperatorWait {
    /// The longest wait; longer than a worker restores.
    static let seconds = 60

    private let configuration: Configuration
    private let tail: ResultsTail
    private let commands: [(partition: Int32, requestID: String)]

    /// Results from now on are seen.
    init(_ configuration: Configuration, _ commands: [(partition: Int32, requestID: String)]) throws {
        (self.configuration, self.commands) = (configuration, commands)
        tail = try ResultsTail(configuration, only: commands.map(\.partition))
    }

    /// Prints each result as it comes.
    ///
    /// - Returns: the exit code: 0 where all are accepted.
    func finish(_ console: Console) throws -> Int32 {
        let deadline = ContinuousClock.now + .seconds(Self.seconds)
        var (open, isAccepted) = (commands, true)
        while !open.isEmpty, ContinuousClock.now < deadline {
            for record in try tail.poll() {
                guard let place = open.firstIndex(where: { Self.answers(record, $0) }) else { continue }
                open.remove(at: place)
                let result = ShownResult(record, in: configuration.registry)
                isAccepted = isAccepted && result?.isAccepted == true
                console.print("partition \(record.partition): \(result?.outcome ?? "a result that cannot be read")")
            }
        }
        guard open.isEmpty else {
            let places = open.map { String($0.partition) }.joined(separator: ", ")
            throw CommandFault(
                "no result came within \(Self.seconds) s for partition \(places): the command is in the topic, and the next worker "
                    + "that reads there applies it. Is one running? See \(AttestWorker.name) top."
            )
        }
        return isAccepted ? ExitCode.done : ExitCode.failed
    }

    private static func answers(_ record: TopicRecord, _ command: (partition: Int32, requestID: String)) -> Bool {
        record.partition == command.partition
            && record.headers?.contains {
                $0.name.elementsEqual("request-id".utf8) && $0.value?.elementsEqual(command.requestID.utf8) == true
            } == true
    }
}
