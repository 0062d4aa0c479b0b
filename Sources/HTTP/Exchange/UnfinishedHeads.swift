/// The requests whose headers are not whole. Of the server's thread.
final class UnfinishedHeads: @unchecked Sendable {
    private var open: [ObjectIdentifier: HTTPExchange] = [:]
    private var last: HTTPExchange?

    func begin(_ exchange: HTTPExchange) {
        open[ObjectIdentifier(exchange)] = exchange
        last = exchange
    }

    func end(_ exchange: HTTPExchange) {
        open[ObjectIdentifier(exchange)] = nil
        if last === exchange { last = nil }
    }

    /// The one whose length the library cannot read: mostly the last, since few heads come in pieces.
    func unreadable() -> (HTTPExchange, HTTPRefusal)? {
        if let last, let refusal = last.lengthRefusal { return (last, refusal) }
        for exchange in open.values { if let refusal = exchange.lengthRefusal { return (exchange, refusal) } }
        return nil
    }
}
