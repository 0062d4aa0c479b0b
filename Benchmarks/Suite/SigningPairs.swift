internal import AppAttest
internal import AppCheck
internal import Crypto

/// What a token costs beside OpenSSL's bare signature: both in short turns on one thread, so that whatever slows the
/// machine down slows both.
struct SigningPairs {
    struct Cost {
        let name: String
        /// Microseconds of a core, medians.
        let bare: Double
        let minted: Double
        /// Median of the turns' own ratios.
        let ratio: Double
    }

    /// Turns of each pair.
    let turns: Int

    func all() throws -> [Cost] {
        let keys = [try SigningKey.generate(.rsa), try SigningKey.generate(.rsa, rsaBits: 3072)]
        let p256 = try SigningKey.generate(.p256)
        var costs = [
            // Odd numbers: OpenSSL renews RSA's blinding every 32 signatures, which must not always hit the same turns.
            try cost("RS256, 2048 bits", .rs256, keys[0], perTurn: 7),
            try cost("RS256, 3072 bits", .rs256, keys[1], perTurn: 3),
            try cost("ES256", .es256, p256, perTurn: 64),
        ]
        guard let library = try SigningLab.signingLibrary(SigningLab.watch()) else { return costs }
        let signer = TokenSigner(library, keys: (keys + [p256]).map { ("Kx3_Qa", $0) })
        func add(_ name: String, _ algorithm: TokenSettings.Algorithm, _ key: SigningKey, _ count: Int) throws {
            costs.append(try cost("\(name), \(count) by \(library.name)", algorithm, key, perTurn: count, signer))
        }
        for count in [5, 8, 64] { try add("RS256, 2048 bits", .rs256, keys[0], count) }
        try add("RS256, 3072 bits", .rs256, keys[1], 8)
        for count in [6, 8, 64] { try add("ES256", .es256, p256, count) }
        return costs
    }

    private func cost(
        _ name: String,
        _ algorithm: TokenSettings.Algorithm,
        _ key: SigningKey,
        perTurn: Int,
        _ signer: TokenSigner = TokenSigner()
    ) throws -> Cost {
        let template = TokenTemplate(
            subject: "1:123456789012:ios:0123456789abcdef",
            projectNumber: "123456789012",
            projectID: "contract-test-1",
            key: try TokenKey(kid: "Kx3_Qa", algorithm: algorithm, key: key)
        )
        let ids = TokenIDs(
            app: "projects/123456789012/apps/1:123456789012:ios:0123456789abcdef",
            subject: "1:123456789012:ios:0123456789abcdef"
        )
        let keyID = KeyID(of: Fixtures.onePublicKey)
        // Named and hashed before: a record's decoding does it for the verdict too.
        let requests = (0..<64).map { (id: ExactText("request-\($0)"), digest: SHA256.hash([UInt8($0)])) }
        let scratch = SigningScratch()
        func mint(_ range: Range<Int>) -> Int {
            var drafts = range.map { index in
                let times = TokenTimes(issuedAt: 1_795_000_000 + Int64(index), expiresAt: 1_795_003_600 + Int64(index))
                let request = requests[index % requests.count]
                let id = ids.id(requestID: request.id, valueDigest: request.digest, keyID: keyID)
                return template.draft(times, id: id)
            }
            let signatures = signer.sign(drafts.map(\.request), scratch)
            return drafts.indices.map { drafts[$0].finish(signatures[$0]).count }.min() ?? 0
        }
        let bare = BareSign(key, digests: (0..<16).map { SHA256.hash([UInt8($0)]) })
        var (bares, mints): ([Double], [Double]) = ([], [])
        for turn in 0..<turns {
            for half in 0..<2 {
                // Each half comes first in every other turn.
                if half == turn % 2 {
                    let elapsed = Elapsed.of { precondition(bare.run(perTurn) == perTurn, "signed") }
                    bares.append(elapsed.processor * 1e6 / Double(perTurn))
                } else {
                    let range = turn * perTurn..<(turn + 1) * perTurn
                    let elapsed = Elapsed.of { precondition(mint(range) > 300, "minted") }
                    mints.append(elapsed.processor * 1e6 / Double(perTurn))
                }
            }
        }
        return Cost(
            name: name,
            bare: Harness.median(bares),
            minted: Harness.median(mints),
            ratio: Harness.median(zip(mints, bares).map { $0 / $1 })
        )
    }
}
