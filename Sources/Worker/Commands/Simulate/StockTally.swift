/// The outcome of a fleet's wishes.
struct StockTally {
    /// Records sent.
    var calls = 0
    var sessions = 0
    var refreshed = 0
    var limitedUse = 0
    /// Answers to verifyAppCheckToken.
    var checks = 0
    /// Tokens whose second use was reported as such.
    var consumed = 0
    /// By reason.
    var refused: [String: Int] = [:]
    /// Calls that got no answer for as long as an app waits.
    var lost = 0
    /// Answers that no stock client can use.
    var faults: [String] = []
    /// Tokens that the clients were given.
    var minted = 0
    /// The last of them.
    private(set) var tokens: [String] = []

    private static let mostTokens = 256

    mutating func add(token: String) {
        minted += 1
        if tokens.count == Self.mostTokens { tokens.removeFirst() }
        tokens.append(token)
    }
}
