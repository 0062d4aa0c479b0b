/// A request as a handler sees it: GET or HEAD, without a body.
package struct HTTPRequest: Sendable, Equatable {
    /// The path without the query.
    package var path: String
    /// The header of this name; nil = there is none.
    package var accept: String?

    package init(path: String, accept: String? = nil) {
        (self.path, self.accept) = (path, accept)
    }
}

/// A handler's answer.
package struct HTTPResponse: Sendable, Equatable {
    package var status: Int
    package var contentType: String
    package var body: [UInt8]

    package init(status: Int = 200, contentType: String = plainText, body: [UInt8]) {
        (self.status, self.contentType, self.body) = (status, contentType, body)
    }

    package init(status: Int, text: String) { self.init(status: status, body: Array("\(text)\n".utf8)) }

    package static let plainText = "text/plain; charset=utf-8"
    package static let notFound = HTTPResponse(status: 404, text: "not found")
}
