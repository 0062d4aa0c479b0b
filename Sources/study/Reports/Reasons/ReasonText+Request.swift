package import AppCheck

/// Reasons of the worker's own: about requests, keys, artifacts, challenges and tokens.
extension ReasonText {
    /// Every reason has a text: a new one without it does not compile.
    package static func of(_ reason: Reason) -> ReasonText {
        switch reason {
        case .object(let refusal): of(refusal)
        case .malformedRequest: .malformedRequest
        case .unknownMethod: .unknownMethod
        case .unknownApp: .unknownApp
        case .keyMismatch: .keyMismatch
        case .tooOld: .tooOld
        case .fromFuture: .fromFuture
        case .unknownKey: .unknownKey
        case .keyAlreadyBound: .keyAlreadyBound
        case .counterNotGreater: .counterNotGreater
        case .artifactInvalid: .artifactInvalid
        case .sealingKeyUnknown: .sealingKeyUnknown
        case .challengeInvalid: .challengeInvalid
        case .challengeKeyUnknown: .challengeKeyUnknown
        case .challengeExpired: .challengeExpired
        case .challengeAhead: .challengeAhead
        case .challengeConsumed: .challengeConsumed
        case .banned: .banned
        case .debugTokenInvalid: .debugTokenInvalid
        case .debugTokenExpired: .debugTokenExpired
        case .tokenInvalid: .tokenInvalid
        case .sessionToken: .sessionToken
        case .rolloutNotAdmitted: .rolloutNotAdmitted
        case .attestationRate: .attestationRate
        case .riskOff: .riskOff
        case .receiptMetric: .receiptMetric
        case .receiptSuperseded: .receiptSuperseded
        case .riskTooHigh: .riskTooHigh
        case .noActiveKey: .noActiveKey
        }
    }

    static let unknownKey = ReasonText(
        "The ledger has no key of this key ID, and no artifact may restore it.",
        [.app, .operator],
        "The device must attest first. If many devices get it, the ledger is lost: see "
            + "[Runbook, The ledger is lost](Runbook.md#the-ledger-is-lost)."
    )
    static let counterNotGreater = ReasonText(
        "The assertion's counter is not greater than the stored one.",
        [.gateway, .attacker],
        "Requests of one key must stay in order, or the app needs `counters.window`. The same assertion under another "
            + "request ID also gets this reason."
    )
    static let keyAlreadyBound = ReasonText(
        "The key belongs to another app of the registry, or to an environment that this app does not accept.",
        [.app, .operator],
        "One key serves one app. Check the app in the path."
    )
    static let banned = ReasonText(
        "An operator has banned the key, or the installation that the request carries.",
        [.operator, .attacker],
        "Nothing, or `attest-worker unban`. Attesting again does not lift it: see "
            + "[Runbook, Ban and forget](Runbook.md#ban-and-forget)."
    )
    static let artifactInvalid = ReasonText(
        "The artifact is not one of this worker's, was changed, or is for another app or environment.",
        [.app],
        "A client that keeps Google's artifact must delete it and attest again."
    )
    static let sealingKeyUnknown = ReasonText(
        "The artifact names a sealing key that is not listed here. Its file may come later than the artifact, so the "
            + "device keeps its key and tries again.",
        [.operator, .attacker],
        "Give every worker the same sealing keys, and check that none was removed: see "
            + "[Keys, Rotation](Keys.md#rotation)."
    )
    static let challengeInvalid = ReasonText(
        "The challenge was changed or is for another app.",
        [.gateway, .attacker],
        "A challenge serves the app alone that asked for it."
    )
    static let challengeKeyUnknown = ReasonText(
        "The challenge names a challenge key that is not listed here. Its file may come later than the challenge, so "
            + "the device keeps its key and tries again.",
        [.operator, .attacker],
        "Give gateways and workers the same challenge keys, workers first: see [Keys, Rotation](Keys.md#rotation)."
    )
    static let challengeExpired = ReasonText(
        "The challenge is older than `challenges.ttl` (operator commands: 15 minutes), in stream time.",
        [.app, .device],
        "The client must fetch a challenge for each attempt. If many get it, the topic's lag is above the ttl."
    )
    static let challengeAhead = ReasonText(
        "The issue time of the challenge is more than 5 minutes after the stream time, or that of an operator's "
            + "command. The device is not to blame: it keeps its key and tries again.",
        [.gateway, .operator],
        "Set the clocks of the gateways right, or that of the machine from which the command came."
    )
    static let challengeConsumed = ReasonText(
        "The challenge was already used with this key; or the same attestation, or one issued before the last "
            + "accepted one, comes again; or a copy of an operator's command.",
        [.app, .attacker],
        "A client must not repeat an exchange with its old challenge."
    )
    static let debugTokenInvalid = ReasonText(
        "The secret of `exchangeDebugToken` is not a random UUID, or its hash is not among the app's `debugTokens`.",
        [.app, .operator, .attacker],
        "Compare the SHA-256 of the secret in lower case with apps.json."
    )
    static let debugTokenExpired = ReasonText(
        "The debug token has reached its `until`.",
        [.operator],
        "Make a new secret for the machine, or remove it."
    )
    static let tokenInvalid = ReasonText(
        "The App Check token is not valid: form, signature, key, audience, issuer, times, subject, life or provider.",
        [.app, .attacker],
        "Look at `tokenFault` of the evidence, or run `inspect` on the token. Tokens of a revoked key get this reason."
    )
    static let sessionToken = ReasonText(
        "The token is a session token, and the app does not let session tokens be used up, or the partition remembers "
            + "`limits.sessionTokens` already.",
        [.app, .operator],
        "Use limited-use tokens for replay protection. Raise the limit if the run's warning names it."
    )
    static let malformedRequest = ReasonText(
        "The path, the body, a member or the timestamp does not have its form. `INVALID_ARGUMENT`, message `Request "
            + "contains an invalid argument.`",
        [.gateway, .app],
        "Compare with [Records, Requests](Records.md#requests). A `clientDataHash` of another length than the app's is "
            + "one of the causes."
    )
    static let unknownMethod = ReasonText(
        "The verb is not served. `FAILED_PRECONDITION`, message `App not registered: {appId}.`, or `App not "
            + "registered.` where the path names no app. With `challenges.mode` `external`, "
            + "`generateAppAttestChallenge` gets it too, and so do `exchangeDebugToken` of an app without "
            + "`debugTokens` and an operator's command without a genuine code.",
        [.app, .gateway],
        "Other providers' verbs are not served. Configure the client for App Attest."
    )
    static let unknownApp = ReasonText(
        "The path names no project, app or OAuth client of apps.json, or an exchange names no app. Message `Requested "
            + "entity was not found.`",
        [.operator, .app],
        "Add the app to apps.json. A running worker takes the file without a restart."
    )
    static let rolloutNotAdmitted = ReasonText(
        "The installation is outside the share of a rollout that is `on`.",
        [.operator],
        "Nothing, or raise `rollout.percent`."
    )
    static let attestationRate = ReasonText(
        "The app's `attestationsPerSecond` is used up for this second.",
        [.operator],
        "Nothing: the client retries. Raise the limit if Apple's guidance allows it."
    )
    static let tooOld = ReasonText(
        "The record is older than `clock.maxAge` against the worker's clock. `replay` does not judge it.",
        [.operator],
        "Check the worker's clock and the topic's lag. Replay the records if their verdicts are needed."
    )
    static let fromFuture = ReasonText(
        "The record is ahead of the worker's clock by more than `clock.maxAhead`. `replay` does not judge it.",
        [.operator],
        "Synchronise the clocks of brokers and workers."
    )
    static let keyMismatch = ReasonText(
        "The record key is missing, not canonical, not the body's key ID (or the token's `jti`), or not on the "
            + "partition that the partitioner gives.",
        [.gateway],
        "Set the record key as [Records, Keys and partitions](Records.md#keys-and-partitions) says, and set "
            + "`partitioner` to the producers' own."
    )
    static let noActiveKey = ReasonText(
        "No signing, sealing or challenge key is in use, so the exchange cannot be answered. The only reason whose "
            + "verdict is `deferred`.",
        [.operator],
        "Make one with `new-keys --add`. The same request is judged again if the client sends it again."
    )
}
