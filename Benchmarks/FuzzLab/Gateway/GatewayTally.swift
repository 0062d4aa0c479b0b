/// What a run of hostile clients has seen.
struct GatewayTally: Sendable {
    var inputs = 0
    /// That the handler saw.
    var requests = 0
    /// By status.
    var refusals: [Int: Int] = [:]
    var aborted = 0
    /// Inputs with the one spelling that the library hides.
    var hidden = 0
    /// Inputs that were tried again alone, since the first try might have been a slow machine's.
    var retried = 0
    /// Servers started and stopped.
    var lives = 0
    private(set) var mistakes: [String] = []

    mutating func mistake(_ sentence: String) {
        if mistakes.count < 10 { mistakes.append(sentence) }
    }

    mutating func add(_ other: GatewayTally) {
        inputs += other.inputs
        requests += other.requests
        refusals.merge(other.refusals, uniquingKeysWith: +)
        aborted += other.aborted
        hidden += other.hidden
        retried += other.retried
        lives += other.lives
        mistakes += other.mistakes.prefix(max(0, 10 - mistakes.count))
    }
}
