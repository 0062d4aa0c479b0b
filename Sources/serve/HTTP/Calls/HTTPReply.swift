package struct HTTPReply: Sendable {
    package var status: Int
    /// The headers in addition to those that the server sets: Content-Length, Date, Connection.
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    /// Whether the connection ends with this answer.
    package var closes: Bool
    package var pace = HTTPPace.free
    /// Whether the reply may not be stored, where no header says so.
    var namesNoStore = true

    /// The statuses that end a call.
    package static let statuses = 200...599

    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = [], closes: Bool = false) {
        (self.status, self.headers, self.body, self.closes) = (status, headers, body, closes)
    }

    /// The headers that are sent: a reply that does not say otherwise may not be stored, since it holds a secret or is
    /// true for a moment.
    var namedHeaders: [(name: String, value: String)] {
        let isNamed = headers.contains { RequestHead.equal(Array($0.name.utf8), "cache-control") }
        return isNamed || !namesNoStore ? headers : headers + [(name: "Cache-Control", value: "no-store")]
    }
}

/// The answer that a call waits for.
package protocol HTTPResponder: AnyObject, Sendable {
    /// Sends the answer; from any thread, the first one counts.
    ///
    /// A responder that goes away without an answer sends status 500.
    func answer(_ reply: HTTPReply)
}
