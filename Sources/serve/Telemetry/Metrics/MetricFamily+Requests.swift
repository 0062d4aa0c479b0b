/// The worker's answers, which the lanes count.
extension MetricFamily {
    static let requests = counter("attest_requests{app,verb,verdict,reason}", "Requests with a committed result.")
    static let duplicates = counter(
        "attest_duplicate_requests{verb}",
        "Requests of attest_requests_total that had been answered before and got the same answer."
    )
    static let deadLetters = counter("attest_dead_letters{reason}", "Records that are not requests.")
    static let minted = counter(
        "attest_tokens_minted{app,kind,algorithm}",
        "Tokens written to the tokens topic, those of duplicates included."
    )
    static let rollout = counter(
        "attest_rollout_decisions{app,mode,decision}",
        "Decisions of the rollout by the share alone; in mode shadow all devices are served."
    )
    static let debugTokens = counter(
        "attest_debug_tokens{app}",
        "Tokens minted for debug tokens, without a device; attest_tokens_minted counts them too."
    )
    static let restored = counter(
        "attest_restored_keys{app}",
        "Keys that the ledger had lost and an artifact brought back."
    )
    static let tokenUses = counter(
        "attest_token_verifications{app,outcome,cause}",
        "Tokens that verifyAppCheckToken judged; app is the token's own, cause why one is invalid."
    )
    static let outdated = counter(
        "attest_outdated_clients{app}",
        "Accepted exchanges without the member limitedUse, as older clients send them."
    )
    static let repliesIgnored = counter(
        "attest_replies_ignored",
        "Requests whose reply-to is not a partition of the replies topic: nothing was written there."
    )

    static let ofRequests = [
        requests, duplicates, deadLetters, minted, debugTokens, rollout, restored, tokenUses, outdated, repliesIgnored,
    ]
}
