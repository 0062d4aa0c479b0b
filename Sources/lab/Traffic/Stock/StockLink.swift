/// The way of stock clients' calls to a worker, and of its answers back.
package protocol StockLink: AnyObject {
    /// Whether the next call may go now.
    var isReady: Bool { get }
    /// - Parameter id: the request-id, of this call alone.
    func send(_ call: StockMember.Call, id: String) throws
    /// The answers that have come, after a little waiting for the first.
    func poll(milliseconds: Int) throws -> [LinkAnswer]
    /// Drops an answer: no client waits for it any more.
    func forget(_ id: String)
    func close() throws
}

package struct LinkAnswer {
    let id: String
    /// The status of the result or the gateway; 0 = no answer came, and none will.
    let status: Int
    /// A refusal's reason where the link sees it, else what HTTP says.
    let reason: String?
    /// The REST answer; empty for a refusal.
    let body: [UInt8]

    package init(id: String, status: Int, reason: String?, body: [UInt8]) {
        (self.id, self.status, self.reason, self.body) = (id, status, reason, body)
    }

    /// A call whose connection broke, or was never made.
    package static func lost(_ id: String, reason: String) -> LinkAnswer {
        LinkAnswer(id: id, status: 0, reason: reason, body: [])
    }

    var isLost: Bool { status == 0 }
}
