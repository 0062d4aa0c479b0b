package import AppAttest

/// Google's stock iOS SDK (AppCheckCore 11.3.1) with its App Attest provider, as a state machine: it gets wishes and
/// answers, and returns the next call. No I/O, no clock; same seed and same events, same calls.
///
/// One installation of one app: a key, its artifact, a session token. Artifacts, challenges and tokens come only from
/// answers.
package struct StockClient: Sendable {
    /// `projects/{project id}/apps/{app id}`, or `oauthClients/{client id}`.
    package let resource: String
    /// Stable as long as the app is installed; made from the seed.
    package let installationID: String
    /// Faults of the fake device's objects while these are set.
    package var attestationFault: AttestationFault?
    package var assertionFault: AssertionFault?
    /// Apple's clock, by which attestations are dated; nil = the phone's is right.
    package var appleTime: EvaluationTime?

    let model: DeviceModel
    var random: SeededRandom
    /// The key in the fake Secure Enclave; nil = none was made, or the last one was dropped.
    var device: FakeDevice?
    /// The artifact of ``device``; nil = the key is not registered, as far as the client knows.
    var artifact: [UInt8]?
    /// Whether the key has stayed on the phone that this one was restored from.
    var isKeyElsewhere = false
    var session: StockToken?
    var backoff = StockBackoff()
    var operation: Operation?
    /// Whether each wish that waits for the running operation's end is for limited use.
    var waiting: [Bool] = []
    /// How many keys were made so far: each costs an attestKey call to Apple.
    package internal(set) var keysMade = 0

    /// One run of the provider: a handshake or a refresh.
    struct Operation: Sendable {
        let isLimitedUse: Bool
        /// How many wishes its token fulfils.
        var wishes: Int
        var step: StockCall.Kind
        /// Whether a 403 has been answered with a new key already.
        var hasStartedOver = false
    }

    /// Session tokens with this life left, or less, are no longer used, in milliseconds.
    package static let leastLife: Int64 = 5 * 60_000

    package init(_ model: DeviceModel, resource: String, seed: UInt64) {
        (self.model, self.resource) = (model, resource)
        random = SeededRandom(seed: seed)
        // The form of a Firebase installation id: 22 characters that begin with c, d, e or f.
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        var random = SeededRandom(seed: ~seed)
        let first = Array("cdef")[Int(random.next() % 4)]
        installationID = String([first] + (1..<22).map { _ in alphabet[Int(random.next() % 64)] })
    }

    /// The resource of a Firebase app: always by the project's id, never by its number.
    package static func resource(projectID: String, appID: String) -> String { "projects/\(projectID)/apps/\(appID)" }

    /// The resource that Google Sign-In uses; it wants limited-use tokens only.
    package static func resource(oauthClientID: String) -> String { "oauthClients/\(oauthClientID)" }

    package var keyID: KeyID? { device?.keyID }
    /// Whether an attestation of the key was accepted: assertions follow.
    package var isRegistered: Bool { artifact != nil }
    /// Whether a call waits for its answer.
    package var isBusy: Bool { operation != nil }

    /// Asks for a token.
    ///
    /// A session token may come from the cache, or from the running operation; a limited-use token is always fetched,
    /// after the running operation.
    package mutating func want(limitedUse: Bool, at time: EvaluationTime) -> StockReply {
        if !limitedUse, let session, session.expiresAt.milliseconds - time.milliseconds > Self.leastLife {
            return StockReply(outcomes: [.cached(session)])
        }
        if let running = operation {
            if running.isLimitedUse || limitedUse { waiting.append(limitedUse) } else { operation?.wishes += 1 }
            return StockReply()
        }
        waiting.append(limitedUse)
        return startNext(at: time)
    }

    /// The app is started again: the SDK keeps its key, artifact and session token, and forgets its back-off.
    ///
    /// - Precondition: no call is open.
    package mutating func restart() {
        precondition(!isBusy, "an open call ends with the app")
        backoff = StockBackoff()
    }

    /// The app comes to a new phone from a backup: without its key, which the SDK learns when it next asserts.
    ///
    /// - Precondition: no call is open.
    package mutating func restoreFromBackup() {
        restart()
        if isRegistered { isKeyElsewhere = true } else { device = nil }
    }

    /// Handles the answer to the open call.
    ///
    /// - Precondition: a call is open.
    package mutating func answer(status: Int, body: [UInt8], at time: EvaluationTime) -> StockReply {
        guard (200...299).contains(status) else { return refuse(status: status, at: time) }
        do throws(StockAnswer.Unreadable) {
            return try proceed(body, at: time)
        } catch {
            return fail(.unreadable(error.reason), at: time)
        }
    }

    /// The open call's answer will never come: a broken connection, or the 60 s after which URLSession gives up.
    ///
    /// - Precondition: a call is open.
    package mutating func disconnect(at time: EvaluationTime) -> StockReply { fail(.disconnected, at: time) }
}

/// A token as the SDK stores it; it never reads the JWT.
package struct StockToken: Sendable, Equatable {
    package let text: String
    /// The time when the answer was handled plus the answer's `ttl`.
    package let expiresAt: EvaluationTime
    package let isLimitedUse: Bool
}
