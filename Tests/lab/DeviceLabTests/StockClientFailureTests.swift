import AppAttest
import Crypto
import DeviceLab
import JSON
import Testing

/// How the stock client takes errors: firebase-app-check's table of statuses, row by row.
@Suite struct StockClientFailureTests {
    private static let day: Int64 = 86_400_000

    /// The end of the backoff that follows.
    private func end(_ client: inout StockClient, at time: EvaluationTime) -> EvaluationTime? {
        let reply = client.want(limitedUse: true, at: time)
        if case .backingOff(let end) = reply.outcomes.first, reply.call == nil { return end }
        return nil
    }

    /// The reply to a wish for a limited-use token whose first call fails.
    private func fail(
        _ client: inout StockClient,
        _ status: Int,
        at time: EvaluationTime = Lab.noon
    ) -> StockReply {
        _ = client.want(limitedUse: true, at: time)
        return client.answer(status: status, body: [], at: time)
    }

    @Test(arguments: [false, true])
    func `a 403 in a handshake drops the key and restarts the handshake at once, one time`(_ atChallenge: Bool) throws {
        var client = StockServer.client()
        var reply = client.want(limitedUse: false, at: Lab.noon)
        var keys: [KeyID?] = []
        for attempt in 1...2 {
            keys.append(client.keyID)
            if !atChallenge { reply = client.answer(status: 200, body: StockServer.challengeAnswer, at: Lab.noon) }
            #expect(reply.call?.kind == (atChallenge ? .challengeForAttestation : .attestation))
            #expect(client.keysMade == attempt)
            reply = client.answer(status: 403, body: [], at: Lab.noon)
            #expect(reply.call?.kind == (attempt == 1 ? .challengeForAttestation : nil))
        }
        #expect(reply.outcomes == [.refused(status: 403)])
        #expect(keys[0] != keys[1] && keys[0] != nil && client.keyID == nil)
        let end = try #require(end(&client, at: Lab.noon))
        #expect((1_000..<1_500).contains(end.milliseconds - Lab.noon.milliseconds))
        #expect(client.want(limitedUse: true, at: end).call?.kind == .challengeForAttestation)
        #expect(client.keysMade == 3)
    }

    @Test func `a repeated handshake may succeed`() {
        var client = StockServer.client()
        _ = client.want(limitedUse: false, at: Lab.noon)
        let again = client.answer(status: 403, body: [], at: Lab.noon)
        let served = StockServer.serve(&client, again, at: Lab.noon)
        #expect(served.calls.map(\.kind) == [.challengeForAttestation, .attestation])
        #expect(served.outcomes.count == 1 && client.isRegistered)
        #expect(served.calls.last?.keyID == client.keyID)
    }

    @Test(arguments: [1, 2])
    func `after a 403 on a refresh the client keeps key and artifact, and retries after a pause`(_ calls: Int) throws {
        var client = StockServer.registered()
        let key = client.keyID
        _ = client.want(limitedUse: true, at: Lab.noon)
        if calls == 2 { _ = client.answer(status: 200, body: StockServer.challengeAnswer, at: Lab.noon) }
        let reply = client.answer(status: 403, body: [], at: Lab.noon)
        #expect(reply == StockReply(outcomes: [.refused(status: 403)]))
        #expect(client.keyID == key && client.isRegistered && client.keysMade == 1)
        let end = try #require(end(&client, at: Lab.noon))
        #expect(client.want(limitedUse: true, at: end).call?.kind == .challengeForAssertion)
    }

    @Test(arguments: [400, 404], [false, true])
    func `after 400 and 404 the client makes no call for a day`(_ status: Int, _ isRegistered: Bool) {
        var client = isRegistered ? StockServer.registered() : StockServer.client()
        let key = client.keyID
        #expect(fail(&client, status) == StockReply(outcomes: [.refused(status: status)]))
        #expect(client.isRegistered == isRegistered && (key == nil || client.keyID == key))
        #expect(end(&client, at: Lab.noon) == Lab.noon + Self.day)
        #expect(end(&client, at: Lab.noon + (Self.day - 1)) == Lab.noon + Self.day)
        #expect(client.want(limitedUse: true, at: Lab.noon + Self.day).call != nil)
    }

    @Test(arguments: [429, 503, 500, 401])
    func `after other errors the pause doubles up to 4 hours, plus up to a half at random`(_ status: Int) throws {
        var client = StockServer.client()
        var time = Lab.noon
        var ratios: [Double] = []
        for failure in 0..<18 {
            #expect(client.want(limitedUse: true, at: time).call != nil)
            #expect(client.answer(status: status, body: [], at: time).outcomes == [.refused(status: status)])
            let end = try #require(end(&client, at: time))
            let pause = end.milliseconds - time.milliseconds
            let base = Int64(1000) << Int64(failure)
            let longest: Int64 = 14_400_000
            #expect(pause >= min(base, longest) && pause <= min(base * 3 / 2, longest))
            if base * 3 / 2 < longest { ratios.append(Double(pause) / Double(base)) }
            #expect(self.end(&client, at: end + -1) == end)
            time = end
        }
        #expect(Set(ratios).count > 5)
        // The key that was made stays: throttling costs no second attestKey call.
        #expect(client.keysMade == 1)
    }

    @Test func `a success resets the count of failures`() throws {
        var client = StockServer.client()
        var time = Lab.noon
        for _ in 0..<5 {
            _ = fail(&client, 503, at: time)
            time = try #require(end(&client, at: time))
        }
        StockServer.fetch(&client, limitedUse: true, at: time)
        #expect(end(&client, at: time) == nil)
        #expect(client.answer(status: 503, body: [], at: time).outcomes.count == 1)
        let pause = try #require(end(&client, at: time)).milliseconds - time.milliseconds
        #expect((1_000..<1_500).contains(pause))
    }

    @Test func `neither a broken connection nor an unreadable answer makes the client wait`() {
        var client = StockServer.client()
        _ = client.want(limitedUse: true, at: Lab.noon)
        #expect(client.disconnect(at: Lab.noon) == StockReply(outcomes: [.disconnected]))
        #expect(fail(&client, 200).isUnreadable)
        #expect(client.want(limitedUse: true, at: Lab.noon).call != nil)
        #expect(client.answer(status: 302, body: [], at: Lab.noon).outcomes == [.refused(status: 302)])
        #expect(client.want(limitedUse: true, at: Lab.noon).call != nil)
    }

    @Test func `failures without a pause still lengthen the next pause`() throws {
        var client = StockServer.client()
        _ = client.want(limitedUse: true, at: Lab.noon)
        _ = client.disconnect(at: Lab.noon)
        _ = fail(&client, 503)
        let pause = try #require(end(&client, at: Lab.noon)).milliseconds - Lab.noon.milliseconds
        #expect((2_000..<3_000).contains(pause))
    }

    @Test func `after a lost attestation answer the same key attests again, with a new challenge`() {
        var client = StockServer.client()
        var reply = client.want(limitedUse: false, at: Lab.noon)
        reply = client.answer(status: 200, body: StockServer.challengeAnswer, at: Lab.noon)
        let lost = reply.call
        #expect(client.disconnect(at: Lab.noon).outcomes == [.disconnected])
        let served = StockServer.fetch(&client, limitedUse: false, at: Lab.noon + 1000)
        #expect(served.calls.map(\.kind) == [.challengeForAttestation, .attestation])
        #expect(served.calls.last?.keyID == lost?.keyID && client.keysMade == 1)
    }

    @Test func `a phone restored from a backup finds out at its next assertion, and then attests another key`() {
        var client = StockServer.client()
        StockServer.fetch(&client, limitedUse: true, at: Lab.noon)
        client.restoreFromBackup()
        _ = client.want(limitedUse: true, at: Lab.noon)
        let refused = client.answer(status: 200, body: StockServer.challengeAnswer, at: Lab.noon)
        #expect(refused == StockReply(outcomes: [.keyIsElsewhere]))
        let served = StockServer.fetch(&client, limitedUse: true, at: Lab.noon)
        #expect(served.calls.map(\.kind) == [.challengeForAttestation, .attestation] && client.keysMade == 2)
    }

    @Test func `every waiting caller gets the failure; callers that queued behind it get the pause`() throws {
        var client = StockServer.client()
        for limitedUse in [false, false, true, true] { _ = client.want(limitedUse: limitedUse, at: Lab.noon) }
        let reply = client.answer(status: 429, body: [], at: Lab.noon)
        let end = try #require(end(&client, at: Lab.noon))
        let refused = StockOutcome.refused(status: 429)
        #expect(
            reply == StockReply(outcomes: [refused, refused, .backingOff(until: end), .backingOff(until: end)])
        )
        #expect(!client.isBusy)
    }

    @Test func `an app that starts again keeps its key, artifact and token, and forgets the pause`() {
        var client = StockServer.client()
        StockServer.fetch(&client, limitedUse: false)
        let key = client.keyID
        let cached = client.want(limitedUse: false, at: Lab.noon)
        _ = fail(&client, 503)
        #expect(end(&client, at: Lab.noon) != nil)
        client.restart()
        #expect(client.want(limitedUse: false, at: Lab.noon) == cached && cached.call == nil)
        #expect(client.want(limitedUse: true, at: Lab.noon).call?.kind == .challengeForAssertion)
        #expect(client.keyID == key && client.keysMade == 1)
    }

    @Test func `the cache serves during a pause`() {
        var client = StockServer.client()
        StockServer.fetch(&client, limitedUse: false)
        _ = fail(&client, 503)
        #expect(client.want(limitedUse: false, at: Lab.noon).outcomes.first?.cachedToken != nil)
    }

    @Test func `objects have the requested fault`() throws {
        var client = StockServer.client()
        client.attestationFault = .nonceOfOtherClientData
        let calls = StockServer.fetch(&client, limitedUse: true).calls
        let verdict = try StockServer.verdict(calls[1], of: client)
        #expect(reason(verdict) == "nonce-mismatch")
    }
}
