internal import Glibc
internal import Kafka

/// Asks a broker again during a change: a moving leader or coordinator, a topic that was just created.
enum BrokerRetry {
    private static let limit = Duration.seconds(30)
    private static let pauseMicroseconds: UInt32 = 200_000

    /// - Throws: the last fault, if it does not pass or the time is up.
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
