internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Streams

/// Verify (lanes): opens seals and prepares objects one by one, and verifies their signatures in one call per grain.
package struct VerifyStage: Sendable {
    private let settings: PipelineSettings
    private let tokens: TokenVerifier

    package init(settings: PipelineSettings) {
        self.settings = settings
        tokens = TokenVerifier(keys: settings.exchange.keys.tokens)
    }

    package func verify(
        _ records: ArraySlice<DecodedRecord>,
        keys: ArraySlice<KeyResolution>,
        on lane: LaneScratch
    ) -> [Finding] {
        var findings: [Finding] = []
        findings.reserveCapacity(records.count)
        var app: Int?
        var preparation = Preparation(verifier: lane.verifier)
        let (records, keys) = (records.span, keys.span)
        for index in records.indices {
            let record = records[index]
            lane.work.note(record)
            if let own = record.appIndex, own != app {
                app = own
                preparation.expectations = settings.registry.apps[own].expectations
            }
            preparation.place = findings.count
            findings.append(prepare(record, key: keys[index], preparation, &lane.unfinished))
        }
        lane.work.noteAll()
        // Two rounds at most: receipts are read once their leaf's signature holds.
        while !lane.unfinished.isEmpty { Self.round(&lane.unfinished, lane, into: &findings) }
        return findings
    }

    /// Verifies the open signatures in one call.
    ///
    /// - Parameter unfinished: afterwards, what is still open.
    private static func round(
        _ unfinished: inout [UnfinishedVerification],
        _ lane: LaneScratch,
        into findings: inout [Finding]
    ) {
        lane.beginRound()
        for index in unfinished.indices {
            guard let check = unfinished[index].check else { continue }
            lane.places.append(unfinished[index].place)
            lane.checks.append(check)
        }
        lane.engine.verify(lane.checks, into: &lane.answers)
        precondition(lane.answers.isValid.count == lane.checks.count, "an engine answers every check")
        var (rest, answered) = ([UnfinishedVerification](), lane.checks.count)
        // From the last on, so that each leaves the array without a copy.
        while let last = unfinished.popLast() {
            var isValid = true
            if last.hasCheck {
                answered -= 1
                precondition(lane.places[answered] == last.place, "an answer belongs to its own signature")
                isValid = lane.answers.isValid[answered]
            }
            switch consume last {
            case .attestation(let prepared, let place, let seals):
                switch (consume prepared).advance(isValid: isValid) {
                case .concluded(let result): findings[place] = Finding(.attestation(result), seals)
                case .open(let more): rest.append(.attestation(more, place: place, seals))
                }
            case .assertion(let prepared, let place, let seals):
                switch (consume prepared).advance(isValid: isValid) {
                case .concluded(let result): findings[place] = Finding(.assertion(result), seals)
                case .open(let more): rest.append(.assertion(more, place: place, seals))
                }
            case .receipt(let prepared, let place):
                switch (consume prepared).advance(isValid: isValid) {
                case .concluded(let result): findings[place] = .receipt(result)
                case .open(let more): rest.append(.receipt(more, place: place))
                }
            }
        }
        if !rest.isEmpty { unfinished = rest.reversed() }
    }

    /// The parts that the preparation of one record needs in addition to it.
    private struct Preparation {
        let verifier: ObjectVerifier
        /// Copied only when the app changes: a copy touches counts that all lanes share.
        var expectations = Expectations(appIDs: [])
        var place = 0
    }

    /// - Returns: the finding; one that refuses as long as a signature is open.
    private func prepare(
        _ record: DecodedRecord,
        key: KeyResolution,
        _ own: borrowing Preparation,
        _ unfinished: inout [UnfinishedVerification]
    ) -> Finding {
        guard let request = record.request else { return .shapeOnly }
        if let reason = record.clockReason { return .outOfTime(reason) }
        let time = EvaluationTime(milliseconds: record.record.timestamp)
        switch request.body {
        case .object(let object, let binding):
            let (hash, seals) = bound(binding, record.appIndex)
            if let seals, seals.refuse { return Finding(.shapeOnly, seals) }
            switch object {
            case .attestation(let object):
                guard let keyID = record.keyID else { return .shapeOnly }
                let prepared = own.verifier.prepareAttestation(
                    object,
                    clientDataHash: hash,
                    keyID: keyID,
                    expectations: own.expectations,
                    at: time
                )
                unfinished.append(.attestation(prepared, place: own.place, seals))
                return .shapeOnly
            case .assertion(let object):
                guard case .key(let key) = Self.known(key, seals) else {
                    return Finding(.withoutKey(own.verifier.assertionShape(object, clientDataHash: hash)), seals)
                }
                let prepared = own.verifier.prepareAssertion(
                    object,
                    clientDataHash: hash,
                    key: key,
                    expectations: own.expectations
                )
                unfinished.append(.assertion(prepared, place: own.place, seals))
                return .shapeOnly
            }
        case .receipt(let receipt, _):
            // Where the app keeps none, it is refused without a look at it.
            guard let keyID = record.keyID, own.expectations.keepsReceipts else { return .shapeOnly }
            let prepared = own.verifier.prepareExchangedReceipt(
                receipt,
                keyID: keyID,
                expectations: own.expectations,
                at: time
            )
            unfinished.append(.receipt(prepared, place: own.place))
            return .shapeOnly
        case .verifyToken(let token): return .token(verify(token, request.resource, at: time))
        case .generateChallenge, .debugToken: return .shapeOnly
        }
    }

    /// The clientDataHash, and what the exchange's seals say.
    private func bound(_ binding: Request.Binding, _ app: Int?) -> (hash: [UInt8], seals: Seals?) {
        switch binding {
        case .clientDataHash(let hash): return (hash, nil)
        case .exchange(let exchange):
            let seals = Seals(
                challenge: opened(exchange.challenge, app),
                artifact: exchange.artifact.map { settings.exchange.keys.sealing.open($0) }
            )
            // Skip the hash of an exchange that is already refused.
            guard !seals.refuse else { return ([], seals) }
            return (Self.clientDataHash(binding), seals)
        }
    }

    /// The hash that a request's object covers.
    static func clientDataHash(_ binding: Request.Binding) -> [UInt8] {
        switch binding {
        case .clientDataHash(let hash): return hash
        case .exchange(let exchange):
            let artifact = exchange.artifact ?? []
            return SHA256.hash(artifact.span, exchange.challenge.span).bytes
        }
    }

    /// The ledger's key, else the artifact's: a key ID is its key's digest, so both are the same key.
    private static func known(_ key: KeyResolution, _ seals: Seals?) -> KeyResolution {
        guard key == .unknown, case .success(let artifact)? = seals?.artifact else { return key }
        return .key(artifact.publicKey)
    }

    private func opened(_ challenge: [UInt8], _ app: Int?) -> Result<EvaluationTime, Reason>? {
        guard settings.exchange.challenges.mode == .sealed, let app else { return nil }
        return settings.exchange.keys.challenges.authenticate(challenge, app: settings.registry.apps[app].name)
    }

    private func verify(
        _ token: [UInt8],
        _ resource: Request.Resource?,
        at time: EvaluationTime
    ) -> Result<TokenClaims, TokenFault> {
        guard case .project(let number)? = resource else { return .failure(.audience) }
        return tokens.verify(token, projectNumber: number, of: settings.registry, at: time)
    }
}
