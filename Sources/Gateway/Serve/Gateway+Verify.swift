internal import AppAttest
internal import AppCheck
internal import HTTP
internal import JSON

extension Gateway {
    /// `GET /v1/verify`: checks the token in `X-Firebase-AppCheck`, for proxies that ask before they pass a call on.
    ///
    /// 200 with the app's id in `X-App-Check-App`, or 401. With `?consume=1` the token is used up by its worker, which
    /// takes a verifier.
    func verify(_ arrival: Arrival) {
        let tokens = arrival.http.values("x-firebase-appcheck")
        guard let verifier = arrival.rules.tokens else { return reject(.path, .notFound, .verify, arrival) }
        guard tokens.count == 1, let token = tokens.first,
            case .success(let claims) = verifier.verify(token, in: arrival.rules.registry, at: now)
        else { return reject(.credentials, .badToken, .verify, arrival) }
        guard arrival.target.parameter("consume")?.elementsEqual("1".utf8) == true else {
            return finish(.verify, Self.verified(claims), arrival)
        }
        guard arrival.caller.verifier != nil else {
            return reject(.credentials, .notAuthenticated, .verify, arrival)
        }
        var body = JSONWriter(capacity: token.count + 32)
        body.beginObject()
        body.key("appCheckToken")
        body.string(utf8: token)
        body.endObject()
        let path = Array("/v1beta/projects/\(claims.projectNumber):verifyAppCheckToken".utf8)
        guard let value = RequestValue.make(path, body.takeBytes()),
            case .request(let request) = arrival.rules.decoder.decode(value), let key = request.requiredRecordKey
        else { return reject(.credentials, .badToken, .verify, arrival) }
        let submission = Submission(key: key, value: value, answer: .response, verb: .verify) { reply in
            // A proxy knows 2xx, 401 and 403 only; a refusal of the token is the first of these.
            switch reply.status {
            case 200 where reply.body.elementsEqual("{}".utf8): Self.verified(claims)
            case 200, 403: GatewayReply.error(.badToken)
            default: reply
            }
        }
        submit(submission, arrival)
    }

    private static func verified(_ claims: TokenClaims) -> HTTPReply {
        var reply = GatewayReply.answer(200, Array("{}".utf8))
        // The subject is an app's or client's id of apps.json: a header can hold it, or it is left out.
        if claims.subject.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            reply.headers.append(("X-App-Check-App", claims.subject))
        }
        return reply
    }
}
