internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Log

/// Verify (lanes): opens seals and prepares objects one by one, and verifies their signatures in one call per grain.
package struct VerifyStage: Sendable {
    private let settings: PipelineSettings
    private let tokens: TokenVerifier

    package init(settings: PipelineSettings) {
        self.settings = settings
        tokens = TokenVerifier(keys: settings.exchange.keys.tokens)
    }

    private enum Open {
        case done(Finding)
        case attestation(Prepared<AttestationEvidence>, Seals?)
        case assertion(Prepared<AssertionEvidence>, Seals?)

        var check: SignatureCheck? {
            switch self {
            case .done: nil
            case .attestation(let prepared, _): prepared.check
            case .assertion(let prepared, _): prepared.check
            }
        }

        /// nil while a signature is open.
        var finding: Finding? {
            if case .done(let finding) = self { return finding }
            return nil
        }

        func advance(isValid: Bool) -> Open {
            switch self {
            case .done: self
            case .attestation(let prepared, let seals):
                switch prepared.advance(isValid: isValid) {
                case .concluded(let result): .done(Self.with(seals, .attestation(result)))
                case .open(let rest): .attestation(rest, seals)
                }
            case .assertion(let prepared, let seals):
                switch prepared.advance(isValid: isValid) {
                case .concluded(let result): .done(Self.with(seals, .assertion(result)))
                case .open(let rest): .assertion(rest, seals)
                }
            }
        }

        static func with(_ seals: Seals?, _ finding: Finding) -> Finding {
            seals.map { .exchange(finding, $0) } ?? finding
        }
    }

    package func verify(
        _ records: ArraySlice<DecodedRecord>,
        keys: ArraySlice<KeyResolution>,
        on lane: LaneScratch
    ) -> VerifiedGrain {
        var open: [Open] = []
        open.reserveCapacity(records.count)
        // Copied only when the app changes: a copy touches counts that all lanes share.
        var app: Int?
        var expectations = Expectations(appIDs: [])
        for index in records.indices {
            lane.work.note(records[index].record)
            if case .request(let request) = records[index].shape, let own = request.appIndex, own != app {
                app = own
                expectations = settings.registry.apps[own].expectations
            }
            open.append(prepare(records[index], key: keys[index], expectations, verifier: lane.verifier))
        }
        lane.work.noteAll()
        var grain = VerifiedGrain()
        // Two rounds at most: receipts are read once their leaf's signature holds.
        var unfinished = open.indices.filter { open[$0].finding == nil }
        while !unfinished.isEmpty {
            Self.round(&open, unfinished, lane)
            for (index, second) in lane.answers.seconds {
                grain.add(second, of: lane.checks[index], in: records[records.startIndex + lane.places[index]])
            }
            unfinished = unfinished.filter { open[$0].finding == nil }
        }
        grain.findings = open.compactMap(\.finding)
        return grain
    }

    /// Verifies what is open at `places` in one call.
    private static func round(_ open: inout [Open], _ places: [Int], _ lane: LaneScratch) {
        lane.beginRound()
        for place in places {
            guard let check = open[place].check else {
                open[place] = open[place].advance(isValid: true)
                continue
            }
            lane.places.append(place)
            lane.checks.append(check)
        }
        lane.engine.verify(lane.checks, into: &lane.answers)
        precondition(lane.answers.isValid.count == lane.checks.count, "an engine answers every check")
        for (place, isValid) in zip(lane.places, lane.answers.isValid) {
            open[place] = open[place].advance(isValid: isValid)
        }
    }

    private func prepare(
        _ record: DecodedRecord,
        key: KeyResolution,
        _ expectations: Expectations,
        verifier: ObjectVerifier
    ) -> Open {
        guard case .request(let request) = record.shape else { return .done(.shapeOnly) }
        if let reason = record.clockReason { return .done(.outOfTime(reason)) }
        let time = EvaluationTime(milliseconds: record.record.timestamp)
        func attestation(_ object: [UInt8], _ hash: [UInt8], _ seals: Seals?) -> Open {
            guard let keyID = request.keyID else { return .done(.shapeOnly) }
            let prepared = verifier.prepareAttestation(
                object,
                clientDataHash: hash,
                keyID: keyID,
                expectations: expectations,
                at: time
            )
            return .attestation(prepared, seals)
        }
        func assertion(_ object: [UInt8], _ hash: [UInt8], _ key: KeyResolution, _ seals: Seals?) -> Open {
            guard case .key(let key, let second) = key else {
                return .done(Open.with(seals, .withoutKey(verifier.assertionShape(object, clientDataHash: hash))))
            }
            let prepared = verifier.prepareAssertion(
                object,
                clientDataHash: hash,
                key: key,
                second: second,
                expectations: expectations
            )
            return .assertion(prepared, seals)
        }
        switch request.body {
        case .object(let object, let binding):
            let (hash, seals) = bound(binding, request)
            if let seals, seals.refuse { return .done(.exchange(.shapeOnly, seals)) }
            switch object {
            case .attestation(let object): return attestation(object, hash, seals)
            case .assertion(let object): return assertion(object, hash, Self.known(key, seals), seals)
            }
        case .verifyToken(let token): return .done(.token(verify(token, request, at: time)))
        case .generateChallenge: return .done(.shapeOnly)
        }
    }

    /// The clientDataHash, and what the exchange's seals say.
    private func bound(_ binding: Request.Binding, _ request: Request) -> (hash: [UInt8], seals: Seals?) {
        switch binding {
        case .clientDataHash(let hash): return (hash, nil)
        case .exchange(let exchange):
            let seals = Seals(
                challenge: opened(exchange.challenge, request),
                artifact: exchange.artifact.map { settings.exchange.keys.sealing.open($0) }
            )
            // Of a refused exchange nothing is hashed.
            guard !seals.refuse else { return ([], seals) }
            let artifact = exchange.artifact ?? []
            return (SHA256.hash(artifact.span, exchange.challenge.span).bytes, seals)
        }
    }

    /// The ledger's key, else the artifact's: a key ID is its key's digest, so both are the same key.
    private static func known(_ key: KeyResolution, _ seals: Seals?) -> KeyResolution {
        guard key == .unknown, case .success(let artifact)? = seals?.artifact else { return key }
        return .key(artifact.publicKey)
    }

    private func opened(_ challenge: [UInt8], _ request: Request) -> Result<EvaluationTime, Reason>? {
        guard settings.exchange.challenges.mode == .sealed, let app = request.appIndex else { return nil }
        return settings.exchange.keys.challenges.authenticate(challenge, app: settings.registry.apps[app].name)
    }

    private func verify(
        _ token: [UInt8],
        _ request: Request,
        at time: EvaluationTime
    ) -> Result<TokenClaims, Reason> {
        guard case .project(let number) = request.resource else { return .failure(.tokenInvalid) }
        let apps = settings.registry.apps.filter { $0.projectNumber == number }
        return tokens.verify(
            token,
            projectNumber: number,
            projectID: apps.first?.projectID,
            at: time,
            isSubject: { subject in apps.contains { $0.appID == subject || $0.oauthClientIDs.contains(subject) } }
        )
    }
}
