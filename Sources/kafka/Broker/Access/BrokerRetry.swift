internal import Glibc
internal import Kafka
package import KafkaPorts
internal import Settings

/// How a command waits for brokers: a simulation lets its own time pass.
package struct WaitingTime {
    /// The time since some moment.
    package var elapsed: () -> Duration
    /// The pause between two questions.
    package var pause: () -> Void

    package init(elapsed: @escaping () -> Duration, pause: @escaping () -> Void) {
        (self.elapsed, self.pause) = (elapsed, pause)
    }

    private static let start = ContinuousClock.now

    package static var ofMachine: Self { Self(elapsed: { .now - start }, pause: { usleep(200_000) }) }

    package var moment: Moment { Moment(milliseconds: Int64(elapsed() / .milliseconds(1))) }
}

/// Asks a broker again during a change: a moving leader or coordinator, a topic that was just created.
package enum BrokerRetry {

    /// - Parameter limit: no question is repeated after it.
    /// - Throws: the last fault, if it does not pass or the time is up.
    package static func ask<Answer>(
        for limit: Duration = .seconds(30),
        on time: WaitingTime = .ofMachine,
        _ question: () throws(KafkaFault) -> Answer
    ) throws(KafkaFault) -> Answer {
        let deadline = time.elapsed() + limit
        while true {
            do throws(KafkaFault) { return try question() } catch {
                guard error.mayBeRepeated, time.elapsed() < deadline else { throw error }
            }
            time.pause()
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
        let time = WaitingTime.ofMachine
        let deadline = time.elapsed() + limit
        while true {
            do { return try question() } catch {
                let mayPass = (error as? KafkaFault)?.isRecoverable ?? (error is CommandFault)
                guard mayPass, time.elapsed() < deadline else { throw error }
            }
            time.pause()
        }
    }
}
