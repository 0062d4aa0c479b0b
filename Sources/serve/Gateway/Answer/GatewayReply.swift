internal import AppAttest
internal import AppCheck
internal import HTTP

/// Answers as Google's clients read them.
enum GatewayReply {
    typealias Header = (name: String, value: String)

    /// - Parameters:
    ///   - id: of the request, for the caller's own log; nil where none was made.
    ///   - own: further headers.
    static func answer(_ status: Int, _ body: [UInt8], id: [UInt8]? = nil, own: [Header] = []) -> HTTPReply {
        var headers: [Header] = [("Content-Type", "application/json; charset=UTF-8")]
        if let id { headers.append(("X-Request-Id", String(decoding: id, as: UTF8.self))) }
        if status == 503 { headers.append(("Retry-After", "1")) }
        return HTTPReply(status: status, headers: headers + own, body: body)
    }

    /// - Parameter reason: for callers of `Verb.tellsReason` alone.
    static func error(_ status: Status, id: [UInt8]? = nil, reason: String? = nil, own: [Header] = []) -> HTTPReply {
        // RFC 9110, 15.5.2: each 401 names a scheme, also where a token or an API key was wrong.
        let scheme: [Header] = status.code == 401 ? [("WWW-Authenticate", "Bearer")] : []
        return answer(status.code, ExchangeAnswer.error(status, reason: reason), id: id, own: scheme + own)
    }
}

extension Status {
    static let badRequest = Reason.malformedRequest.status(appID: nil)
    /// - Parameter sentence: what the proxy's operator must change.
    static func badQuestion(_ sentence: ExactText) -> Status {
        Status(code: 400, status: "INVALID_ARGUMENT", message: sentence)
    }
    /// 403 would make a stock client drop its key, 400 and 404 would silence it for a day.
    static let badAPIKey = unauthenticated("API key not valid.")
    static let badBundle = unauthenticated("The bundle is not of this app.")
    static let notAuthenticated = unauthenticated("Request had invalid authentication credentials.")
    static let badToken = unauthenticated("App Check token is invalid.")
    private static func unauthenticated(_ message: ExactText) -> Status {
        Status(code: 401, status: "UNAUTHENTICATED", message: message)
    }
    static let notFound = Reason.unknownApp.status(appID: nil)
    static let methodNotAllowed = Status(
        code: 405,
        status: "INVALID_ARGUMENT",
        message: "This path takes another method."
    )
    static let exhausted = Reason.attestationRate.status(appID: nil)
    static let tooLarge = Status(code: 413, status: "INVALID_ARGUMENT", message: "The request is too large.")
    /// Nothing was produced: the caller may send the call again.
    static let unavailable = Reason.noActiveKey.status(appID: nil)
    /// The outcome is open: an answer may still be written.
    static let deadline = Status(code: 504, status: "DEADLINE_EXCEEDED", message: "Deadline exceeded.")
}
