package import AppAttest

/// When calls may begin: an instance's part of the configured rate, lowered per environment, and the number of calls in
/// flight.
package struct CallBucket: Sendable {
    package static let mostInFlight = 64
    private static let microsecondsPerSecond = 1_000_000.0

    /// The rate of all instances and both environments together.
    package private(set) var callsPerSecond: Double
    /// Microseconds between calls of this instance; nil while it has no partition.
    private var interval: Int64?
    private var schedule = CallSchedule()
    private var production = EnvironmentRate()
    private var development = EnvironmentRate()
    private var assigned = (pairs: 0, partitions: 0)
    package private(set) var inFlight = 0

    package init(callsPerSecond: Double) { self.callsPerSecond = callsPerSecond }

    package mutating func change(callsPerSecond: Double) {
        self.callsPerSecond = callsPerSecond
        assign(pairs: assigned.pairs, partitions: assigned.partitions)
    }

    /// - Parameters:
    ///   - pairs: the (line, partition) pairs that this instance reads.
    ///   - partitions: those of the topic; each has three lines.
    package mutating func assign(pairs: Int, partitions: Int) {
        precondition(
            pairs >= 0 && pairs <= ReceiptLine.allCases.count * partitions,
            "pairs are of the topic's partitions"
        )
        assigned = (pairs, partitions)
        let all = Double(ReceiptLine.allCases.count * partitions)
        let rate = pairs == 0 ? 0 : callsPerSecond * Double(pairs) / all
        guard rate > 0, rate.isFinite else { return interval = nil }
        let microseconds = (Self.microsecondsPerSecond / rate).rounded(.up)
        // A rate below a call a year is taken as one.
        interval = Int64(min(max(1, microseconds), 365 * 86_400 * Self.microsecondsPerSecond))
    }

    /// When any call may begin; nil while none may, whatever the time.
    package var next: EvaluationTime? { interval == nil || inFlight >= Self.mostInFlight ? nil : schedule.next }

    /// When a call of this environment may begin, as far as its own rate is concerned.
    package func next(in environment: Environment) -> EvaluationTime { self[environment].next }

    /// This instance's calls a second in an environment.
    package func rate(in environment: Environment) -> Double {
        interval.map { Self.microsecondsPerSecond / Double(self[environment].interval($0)) } ?? 0
    }

    package func isLowered(in environment: Environment) -> Bool { self[environment].isLowered }

    /// A call begins.
    ///
    /// - Precondition: it may, by both times.
    package mutating func take(_ environment: Environment, at time: EvaluationTime) {
        guard let interval, inFlight < Self.mostInFlight, schedule.isFree(at: time) else {
            preconditionFailure("a call waits for its time")
        }
        schedule.take(at: time, interval: interval)
        self[environment].take(at: time, interval: interval)
        inFlight += 1
    }

    package mutating func end() {
        precondition(inFlight > 0, "a call ends once")
        inFlight -= 1
    }

    /// - Returns: whether the rate is lower from now on.
    package mutating func wasThrottled(in environment: Environment, at time: EvaluationTime) -> Bool {
        guard let interval else { return false }
        return self[environment].wasThrottled(at: time, interval: interval)
    }

    package mutating func pause(_ environment: Environment, milliseconds: Int64, at time: EvaluationTime) {
        self[environment].pause(milliseconds: milliseconds, at: time)
    }

    /// Gives back what quiet hours are worth, whether calls are made or not.
    package mutating func restore(at time: EvaluationTime) {
        production.restore(at: time)
        development.restore(at: time)
    }

    private subscript(environment: Environment) -> EnvironmentRate {
        get { environment == .production ? production : development }
        set { if environment == .production { production = newValue } else { development = newValue } }
    }
}
