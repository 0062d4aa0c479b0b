/// Counts how often the broker took this process for the older one of two.
///
/// A long pause or a broker's restart looks like a second process with the same name, and going on is right. If it
/// happens again and again, there is a second process.
struct Fencings {
    private static let most = 3
    private static let window = Duration.seconds(60)

    private var times: [ContinuousClock.Instant] = []
    private var excuses = 0

    /// Own requests for the name without an answer: each may still arrive, and fence the name's next owner.
    mutating func excuse(_ count: Int) { excuses += count }

    /// - Returns: whether it is worth going on.
    mutating func note() -> Bool {
        if excuses > 0 {
            excuses -= 1
            return true
        }
        times = times.filter { $0 + Self.window > .now } + [.now]
        return times.count <= Self.most
    }
}
