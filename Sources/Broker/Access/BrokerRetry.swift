internal import Glibc
internal import Kafka
package import KafkaPorts

/// Asks a broker again during a change: a moving leader or coordinator, a topic that was just created.
package enum BrokerRetry {
    private static let pauseMicroseconds: UInt32 = 200_000

    /// - Parameter limit: no question is repeated after it.
    /// - Throws: the last fault, if it does not pass or the time is up.
    package static func ask<Answer>(
        for limit: Duration = .seconds(30),
        _ question: () throws(KafkaFault) -> Answer
    ) throws(KafkaFault) -> Answer {
        let deadline = ContinuousClock.now + limit
        while true {
            do throws(KafkaFault) { return try question() } catch {
                let mayPass = error.isRetriable && !error.isFatal && !error.requiresAbort
                guard mayPass, ContinuousClock.now < deadline else { throw error }
            }
            usleep(pauseMicroseconds)
        }
    }
}
