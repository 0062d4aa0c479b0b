internal import AppAttest
internal import AppCheck
internal import HTTP

/// Answers as Google's clients read them.
enum GatewayReply {
    private static let json = ("Content-Type", "application/json; charset=UTF-8")

    /// - Parameter id: of the request, for the caller's own log; nil where none was made.
    static func answer(_ status: Int, _ body: [UInt8], id: [UInt8]? = nil) -> HTTPReply {
        var headers = [json]
        if let id { headers.append(("X-Request-Id", String(decoding: id, as: UTF8.self))) }
        return HTTPReply(status: status, headers: headers, body: body)
    }

    /// - Parameter reason: for callers of `Verb.tellsReason` alone.
    static func error(_ status: Status, id: [UInt8]? = nil, reason: String? = nil) -> HTTPReply {
        var reply = answer(status.code, ExchangeAnswer.error(status, reason: reason), id: id)
        switch status.code {
        // RFC 9110, 15.5.2: each 401 names a scheme, also where a token or an API key was wrong.
        case 401: reply.headers.append(("WWW-Authenticate", "Bearer"))
        case 503: reply.headers.append(("Retry-After", "1"))
        default: break
        }
        return reply
    }
}

extension Status {
    static let badRequest = Status(
        code: 400,
        status: "INVALID_ARGUMENT",
        message: "Request contains an invalid argument."
    )
    /// - Parameter sentence: what the proxy's operator must change.
    static func badQuestion(_ sentence: ExactText) -> Status {
        Status(code: 400, status: "INVALID_ARGUMENT", message: sentence)
    }
    /// 403 would make a stock client drop its key, 400 and 404 would silence it for a day.
    static let badAPIKey = Status(code: 401, status: "UNAUTHENTICATED", message: "API key not valid.")
    static let badBundle = Status(code: 401, status: "UNAUTHENTICATED", message: "The bundle is not of this app.")
    static let notAuthenticated = Status(
        code: 401,
        status: "UNAUTHENTICATED",
        message: "Request had invalid authentication credentials."
    )
    static let badToken = Status(code: 401, status: "UNAUTHENTICATED", message: "App Check token is invalid.")
    static let notFound = Status(code: 404, status: "NOT_FOUND", message: "Requested entity was not found.")
    static let methodNotAllowed = Status(
        code: 405,
        status: "INVALID_ARGUMENT",
        message: "This path takes another method."
    )
    static let exhausted = Reason.attestationRate.status(appID: nil)
    static let tooLarge = Status(code: 413, status: "INVALID_ARGUMENT", message: "The request is too large.")
    /// Nothing was produced: the caller may send the call again.
    static let unavailable = Status(
        code: 503,
        status: "UNAVAILABLE",
        message: "The service is currently unavailable."
    )
    /// The outcome is open: an answer may still be written.
    static let deadline = Status(code: 504, status: "DEADLINE_EXCEEDED", message: "Deadline exceeded.")
}
