/// The outcome of a fleet's wishes.
package struct StockTally {
    /// Records sent.
    package var calls = 0
    package var sessions = 0
    package var refreshed = 0
    package var limitedUse = 0
    /// Answers to verifyAppCheckToken.
    package var checks = 0
    /// Tokens whose second use was reported as such.
    package var consumed = 0
    package var refused: [String: Int] = [:]
    /// Calls without an answer: none came for as long as an app waits, or the connection broke.
    package var lost = 0
    /// The lost calls whose connection broke, by the cause.
    package var broken: [String: Int] = [:]
    /// Answers that no stock client can use.
    package var faults: [String] = []
    /// Tokens that the clients were given.
    package var minted = 0
    /// The last of them.
    package private(set) var tokens: [String] = []

    private static let mostTokens = 256

    mutating func add(token: String) {
        minted += 1
        if tokens.count == Self.mostTokens { tokens.removeFirst() }
        tokens.append(token)
    }
}
