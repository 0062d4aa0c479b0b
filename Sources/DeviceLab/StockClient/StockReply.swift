/// The client's reaction to an event: the wishes that it ended, in the order in which they came, and its next call.
package struct StockReply: Sendable, Equatable {
    package var outcomes: [StockOutcome]
    /// The call to be answered before any other event; nil = the client rests, or waits for the answer to an earlier
    /// call.
    package var call: StockCall?

    package init(outcomes: [StockOutcome] = [], call: StockCall? = nil) {
        self.outcomes = outcomes
        self.call = call
    }
}
