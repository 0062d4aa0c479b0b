internal import Glibc
internal import Kafka

/// Asks a broker again while it goes through a change: a leader or a coordinator that moves, a topic made a moment ago.
enum BrokerRetry {
    private static let limit = Duration.seconds(30)
    private static let pauseMicroseconds: UInt32 = 200_000

    /// - Throws: the last fault, when it is none that passes or the time is up.
    static func ask<Answer>(_ question: () throws(KafkaFault) -> Answer) throws(KafkaFault) -> Answer {
        let deadline = ContinuousClock.now + limit
        while true {
            do throws(KafkaFault) { return try question() } catch {
                guard error.isRetriable, ContinuousClock.now < deadline else { throw error }
            }
            usleep(pauseMicroseconds)
        }
    }
}
