internal import Glibc
internal import Kafka
package import KafkaPorts
internal import Settings

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

    /// Asks about topics that may have been created a moment ago: a broker that has not heard of them says that there are
    /// none, or has no leader for them.
    ///
    /// - Parameter limit: no question is repeated after it.
    /// - Throws: the last fault.
    package static func askEarly<Answer>(
        for limit: Duration = .seconds(5),
        _ question: () throws -> Answer
    ) throws -> Answer {
        let deadline = ContinuousClock.now + limit
        while true {
            do { return try question() } catch {
                let mayPass = (error as? KafkaFault)?.isRecoverable ?? (error is CommandFault)
                guard mayPass, ContinuousClock.now < deadline else { throw error }
            }
            usleep(pauseMicroseconds)
        }
    }
}
