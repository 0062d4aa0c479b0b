/// A call to be made.
package struct ClientCall: Sendable {
    package enum Method: String, Sendable, CaseIterable { case get = "GET", post = "POST" }

    /// Given back with the ending; of this call alone.
    package var tag: UInt64
    package var method: Method
    /// The URL with scheme and host; only http and https are spoken.
    package var url: String
    /// The headers in addition to Host, Content-Length and Accept.
    package var headers: [(name: String, value: String)]
    /// The body of a POST.
    package var body: [UInt8]

    package init(
        tag: UInt64,
        method: Method,
        url: String,
        headers: [(name: String, value: String)] = [],
        body: [UInt8] = []
    ) {
        (self.tag, self.method, self.url, self.headers, self.body) = (tag, method, url, headers, body)
    }

    /// Whether the texts can stand on lines of a request: a line break would begin another header, a zero byte end one.
    var isSendable: Bool {
        let texts = [url] + headers.flatMap { [$0.name, $0.value] }
        return headers.allSatisfy { !$0.name.isEmpty && !$0.name.utf8.contains(UInt8(ascii: ":")) }
            && texts.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
    }
}

/// How a call ended.
package struct ClientEnding: Sendable {
    package enum Outcome: Sendable {
        case answered(ClientAnswer)
        case failed(ClientFailure)
    }

    package let tag: UInt64
    package let outcome: Outcome
    /// The time from the call's start to its end, connecting included.
    package let microseconds: Int64
}

/// An answer, whatever its status.
package struct ClientAnswer: Sendable {
    package let status: Int
    /// The headers that ``ClientOptions/headers`` chooses, in their order, names in lower case.
    package let headers: [(name: String, value: [UInt8])]
    package let body: [UInt8]

    package init(status: Int, headers: [(name: String, value: [UInt8])] = [], body: [UInt8]) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// The last value of a header.
    package func value(_ name: String) -> [UInt8]? { headers.last { $0.name == name }?.value }
}

/// Why a call has no answer.
package struct ClientFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable, CaseIterable {
        /// No connection: refused, an unknown host, a certificate that is not trusted. Nothing was sent.
        case unconnected
        case timedOut
        /// The body, or the headers, are larger than allowed.
        case tooLarge
        /// The connection broke, or what came over it was not HTTP.
        case broken
        /// The call itself is invalid: its URL or headers.
        case invalid
    }

    package let kind: Kind
    /// The library's own words.
    package let description: String

    package init(kind: Kind, description: String) { (self.kind, self.description) = (kind, description) }
}

/// The limits of a client's calls. Immutable once the client is made.
package struct ClientOptions: Sendable, Equatable {
    /// Open connections; more calls wait, within their time.
    package var connections = 1024
    package var connectMilliseconds = 10_000
    /// The limit of a whole call, from ``HTTPClient/enqueue(_:)`` on.
    package var totalMilliseconds = 60_000
    /// A larger body ends its call.
    package var mostBodyBytes = 1 << 20
    /// Whether an answer with a larger body counts, with so much of its body; else its call fails.
    package var cutsBodies = false
    /// The names of the answer headers that are kept, in lower case; nil = all headers are.
    package var headers: [String]? = []
    /// A PEM file of certificates that are trusted instead of the system's.
    package var authorities: String?
    /// The URL of a proxy, which is asked for a tunnel with CONNECT; nil = none is used.
    package var proxy: String?

    package init() {}
}
