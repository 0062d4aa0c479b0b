internal import AppAttest
internal import AppCheck
internal import HTTP
internal import JSON
internal import Pipeline
internal import Threads

extension Gateway {
    /// `/v1/verify`: checks the token in `X-Firebase-AppCheck`, for proxies that ask before they pass a call on.
    ///
    /// 200 with the app's id in `X-App-Check-App`, or 401. Where the token is to be used up, its worker does so, which
    /// takes a verifier. The method says nothing: some proxies send their client's.
    func verify(_ asked: Result<VerifyTarget, VerifyTarget.Fault>, _ call: IncomingCall) {
        guard let verifier = call.rules.tokens else { return reject(.path, .notFound, call) }
        let target: VerifyTarget
        switch asked {
        case .success(let found): target = found
        case .failure(let fault): return refuse(.parameters, .badQuestion(fault.sentence), call)
        }
        if let sentence = target.doubt(call.rules) {
            return refuse(.parameters, .badQuestion(sentence), call)
        }
        guard !target.consumes || call.caller.verifier != nil else {
            return refuse(.credentials, .notAuthenticated, call)
        }
        guard isFit(for: .clock, call) else { return }
        let tokens = call.http.values("x-firebase-appcheck")
        guard let token = tokens.first else { return refuse(.none, .badToken, call) }
        guard tokens.count == 1 else { return refuse(.malformed, .badToken, call) }
        switch verifier.judge(token, in: call.rules.registry, at: now) {
        case .failure(let fault):
            if fault == .unknownKey { noteKey(of: token, call.rules) }
            refuse(VerifyRefusal(fault), .badToken, call)
        case .success(let claims):
            guard target.accepts(claims) else { return refuse(.app, .badToken, call) }
            guard target.consumes else { return finish(Self.verified(claims), call) }
            consume(token, claims, call)
        }
    }

    /// Asks a worker to use the token up. The request gets a random id: a client that names it could use the token twice.
    private func consume(_ token: [UInt8], _ claims: TokenClaims, _ call: IncomingCall) {
        var body = JSONWriter(capacity: token.count + 32)
        body.beginObject()
        body.member("appCheckToken", utf8: token)
        body.endObject()
        let path = Array("/v1beta/projects/\(claims.projectNumber):verifyAppCheckToken".utf8)
        guard let value = RequestValue.make(path, body.takeBytes()),
            case .request(let request) = call.rules.decoder.decode(value), let key = request.requiredRecordKey
        else { return refuse(.malformed, .badToken, call) }
        submit(value, id: ids.fresh(), key: key, .response, call) { [self] answer in
            // A proxy knows 2xx, 401 and 403 only; a refusal of the token is the first of these.
            var reply = answer
            switch answer.status {
            case 200 where answer.body.elementsEqual("{}".utf8): reply = Self.verified(claims)
            case 200, 403:
                note(answer.status == 200 ? .consumed : .verdict)
                reply = GatewayReply.error(.badToken)
            default: return answer
            }
            reply.headers += answer.headers.filter { $0.name == "X-Request-Id" }
            return reply
        }
    }

    private func refuse(_ cause: VerifyRefusal, _ status: Status, _ call: IncomingCall) {
        note(cause)
        reject(status.code == 400 ? .request : .credentials, status, call)
    }

    private func note(_ cause: VerifyRefusal) { state.withLock { $0.counts.refusedTokens[cause, default: 0] += 1 } }

    private static func verified(_ claims: TokenClaims) -> HTTPReply {
        GatewayReply.answer(200, Array("{}".utf8), own: [("X-App-Check-App", headerText(claims.subject))])
    }

    /// A header can hold visible ASCII; all else is percent-encoded. The header is never left out: a proxy would pass on
    /// the one that its client sent.
    private static func headerText(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "%")
            return isPlain ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.encode([byte]).uppercased()
        }.joined()
    }
}
