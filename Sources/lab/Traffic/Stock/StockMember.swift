internal import AppAttest
package import AppCheck
package import DeviceLab
internal import JSON
package import Streams

/// One installation with the stock SDK, and the app's backend, which uses limited-use tokens up.
package struct StockMember {
    /// A token that the app asks its SDK for.
    package enum Wish: CaseIterable {
        case session
        /// A session token in place of one that is nearly over.
        case refresh
        /// A limited-use token, which the backend then checks twice.
        case limitedUse
    }

    /// A record for the requests topic, the same call over HTTP, and which side waits for its answer.
    package struct Call {
        package enum Asker { case sdk, backend(uses: Int) }

        package let key: [UInt8]?
        package let value: [UInt8]
        package let headers: [RecordHeader]
        package let web: WebCall
        package let verb: String
        package let asker: Asker
        /// The caller's key, which the artifact of its attestation names.
        package var keyID: [UInt8]?
        /// The `sub` of its token; nil = not known here.
        package var subject: String?
        /// Whether another call may get the same token.
        package var mayShareToken = false

        /// Whether a 200 comes with a record on the tokens topic.
        package var hasToken: Bool { if case .sdk = asker { true } else { false } }
    }

    /// How far before its end a token is nearly expired, in milliseconds: less than the SDK's own bound.
    private static let nearEnd: Int64 = 60_000
    /// An app's pause before it asks again where the SDK has no rule, in milliseconds.
    private static let pause: Int64 = 1000

    package private(set) var client: StockClient
    let app: RegisteredApp
    private let checksTokens: Bool
    package private(set) var wishes: [Wish]
    package private(set) var current: Wish?
    package private(set) var session: StockToken?
    /// No wish before this time: the SDK backs off.
    private(set) var notBefore = EvaluationTime(milliseconds: 0)
    /// The limited-use token that the backend has.
    private var presented: [UInt8] = []

    package init(client: StockClient, app: RegisteredApp, wishes: [Wish], checksTokens: Bool = true) {
        (self.client, self.app, self.wishes, self.checksTokens) = (client, app, wishes, checksTokens)
    }

    /// Begins the next wish where none is open. - Returns: the call that it needs, if any.
    mutating func begin(at time: EvaluationTime, _ tally: inout StockTally) -> Call? {
        guard current == nil, !wishes.isEmpty, time >= notBefore else { return nil }
        current = wishes.removeFirst()
        var clock = time
        if current == .refresh, let session {
            // The SDK is asked as if the token had nearly expired.
            clock = EvaluationTime(milliseconds: max(time.milliseconds, session.expiresAt.milliseconds - Self.nearEnd))
        }
        return handle(client.want(limitedUse: current == .limitedUse, at: clock), at: time, &tally)
    }

    /// The app is started again, where it waits for no answer.
    mutating func restart() {
        guard current == nil else { return }
        client.restart()
        notBefore = EvaluationTime(milliseconds: 0)
    }

    /// Goes on after an answer. Where the call's connection broke the app asks again a little later.
    ///
    /// - Returns: the next call, if any.
    mutating func answer(
        _ answer: LinkAnswer,
        to call: Call,
        at time: EvaluationTime,
        _ tally: inout StockTally
    ) -> Call? {
        if answer.isLost {
            tally.broken[answer.reason ?? "", default: 0] += 1
            let next = disconnect(call, at: time, &tally)
            notBefore = EvaluationTime(milliseconds: time.milliseconds + Self.pause)
            return next
        }
        if let reason = answer.reason { tally.refused[reason, default: 0] += 1 }
        switch call.asker {
        case .sdk:
            return handle(client.answer(status: answer.status, body: answer.body, at: time), at: time, &tally)
        case .backend(let uses):
            let isConsumed = (try? JSONDocument(parsing: answer.body).root["alreadyConsumed"]?.bool) == true
            // A gateway or worker that could not answer: the backend gives up this token.
            guard answer.status < 500 else { return end() }
            tally.checks += 1
            if answer.status != 200 || isConsumed != (uses > 0) {
                tally.faults.append(
                    "use \(uses + 1) of a token was answered with \(answer.status), alreadyConsumed \(isConsumed)"
                )
            }
            guard uses == 0 else {
                if isConsumed { tally.consumed += 1 }
                return end()
            }
            return check(presented, uses: 1)
        }
    }

    /// The open call gets no answer.
    mutating func disconnect(_ call: Call, at time: EvaluationTime, _ tally: inout StockTally) -> Call? {
        tally.lost += 1
        guard case .sdk = call.asker else { return end() }
        return handle(client.disconnect(at: time), at: time, &tally)
    }

    /// - Returns: the next call, if any.
    private mutating func handle(_ reply: StockReply, at time: EvaluationTime, _ tally: inout StockTally) -> Call? {
        var next = reply.call.map(record)
        for outcome in reply.outcomes {
            switch outcome {
            case .token(let token), .cached(let token): next = fulfil(token, &tally)
            case .backingOff(let until): postpone(until)
            case .refused, .disconnected, .keyIsElsewhere: postpone(time)
            case .unreadable(let problem):
                tally.faults.append("an answer cannot be read: \(problem)")
                postpone(EvaluationTime(milliseconds: time.milliseconds + Self.pause))
            }
        }
        return next
    }

    private func record(_ call: StockCall) -> Call {
        let isApp = client.resource.hasPrefix("projects/")
        return Call(
            key: call.keyID?.recordKey,
            value: call.value,
            headers: call.headers.map { RecordHeader($0.name, $0.value) },
            web: WebCall(call, of: app, isOAuthClient: !isApp),
            verb: call.verb,
            asker: .sdk,
            keyID: call.keyID?.bytes,
            subject: isApp ? app.appID : nil,
            mayShareToken: app.tokens.sharedSessionTokens && current != .limitedUse
        )
    }

    /// Puts the present wish back, for later.
    private mutating func postpone(_ until: EvaluationTime) {
        if let current { wishes.insert(current, at: 0) }
        current = nil
        notBefore = until
    }

    private mutating func fulfil(_ token: StockToken, _ tally: inout StockTally) -> Call? {
        let wish = current
        tally.add(token: token.text)
        switch wish {
        case .session: tally.sessions += 1
        case .refresh:
            if session != token { tally.refreshed += 1 }
        case .limitedUse:
            tally.limitedUse += 1
            guard checksTokens else { break }
            presented = Array(token.text.utf8)
            return check(presented, uses: 0)
        case nil: break
        }
        if wish != .limitedUse { session = token }
        return end()
    }

    /// The present wish is fulfilled, or given up: no call follows.
    private mutating func end() -> Call? {
        current = nil
        return nil
    }

    /// A check as the Admin SDKs write it.
    private func check(_ token: [UInt8], uses: Int) -> Call? {
        var body = StockBody()
        body.add("app_check_token", text: token)
        var random = SeededRandom(seed: 0)
        let content = body.bytes(using: &random)
        let verb = Verb.verifyAppCheckToken.rawValue
        let path = "v1beta/projects/\(app.projectID ?? app.projectNumber):\(verb)"
        return Call(
            key: CrossingWatch.claims(of: token)?["jti"]?.stringBytes,
            value: StockCall.record(path: path, body: content),
            headers: [],
            web: WebCall(path: "/" + path, body: content),
            verb: verb,
            asker: .backend(uses: uses)
        )
    }
}
