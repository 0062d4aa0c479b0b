internal import KafkaPorts

/// Counts how often this process was fenced: the broker took it for the older one of two.
///
/// A long pause or a broker's restart looks like a second process with the same name, and going on is right. If it
/// happens again and again, there is a second process.
///
/// Two processes fence each other in turns, so the first to be fenced once too often ends and leaves the other one with
/// a fencing to spare. That holds for one resource: two resources with the same limit may end both processes.
struct FenceCounter {
    private static let window: Int64 = 60_000

    /// How often it may be fenced within a minute.
    private let most: Int
    private var times: [Moment] = []
    private var excuses = 0

    private init(most: Int) { self.most = most }

    /// The counter of the static member's name.
    static var ofMember: Self { Self(most: 3) }

    /// The counter of the transactional id. Static members contend for the member's name as well, which decides long
    /// before.
    static func ofWriter(isStaticMember: Bool) -> Self { Self(most: isStaticMember ? 12 : 3) }

    /// Own requests for the name without an answer: each may still arrive, and fence the name's next owner.
    mutating func excuse(_ count: Int) { excuses += count }

    /// - Returns: whether it is worth going on.
    mutating func note(at now: Moment) -> Bool {
        if excuses > 0 {
            excuses -= 1
            return true
        }
        times = times.filter { now - $0 < Self.window } + [now]
        return times.count <= most
    }
}
