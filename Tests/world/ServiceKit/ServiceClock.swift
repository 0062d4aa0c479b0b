internal import SimulationKit

/// The wall clock of one process: an offset and a drift.
final class ServiceClock {
    let simulated = SimulatedClock()
    private var base: Int64 = 0
    /// When it was set, by the world's time.
    private(set) var since: Int64 = 0
    /// Milliseconds that it gains in a thousand seconds.
    private var drift: Int64 = 0

    /// How far it is ahead of the brokers', in milliseconds.
    var ahead: Int64 { simulated.ahead }

    /// - Parameter ahead: how far a clock that is right is ahead.
    func isRight(_ ahead: Int64) -> Bool { base == ahead && drift == 0 }

    /// - Parameter now: the world's time.
    func set(ahead: Int64, drift: Int64 = 0, at now: Int64) {
        (base, self.drift, since) = (ahead, drift, now)
        tick(now)
    }

    func tick(_ now: Int64) { simulated.ahead = base + (now - since) * drift / 1_000_000 }
}
