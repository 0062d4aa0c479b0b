internal import AppAttest
internal import AppCheck
internal import Crypto
internal import JSON

/// The device's object, and what the ledger holds of its key.
extension Explainer {
    private func arguments(_ hash: [UInt8], app: Int) -> InspectionArguments {
        var arguments = InspectionArguments()
        arguments.clientDataHash = hash
        arguments.expectations = settings.registry.apps[app].expectations
        arguments.knownAppIDs = knownAppIDs
        arguments.appliesReceiptPolicy = true
        return arguments
    }

    func attestation(_ object: [UInt8], _ hash: [UInt8], app: Int, _ keyID: KeyID, _ look: inout SecondLook) {
        var arguments = arguments(hash, app: app)
        arguments.keyID = keyID
        let report = verifier.inspectAttestation(object, arguments, at: look.time, engine: engine)
        look.object = report
        for check in report.checks { look.walk.add(check) }
        guard report.refusal == nil, let known = look.state.key else { return }
        let evidence = verifier.prepareAttestation(
            object,
            clientDataHash: hash,
            keyID: keyID,
            expectations: settings.registry.apps[app].expectations,
            at: look.time
        ).verified(by: engine)
        guard let evidence = try? evidence.get() else { return }
        bound(known, app: app, presented: evidence.environment, &look.walk)
        if let last = known.nonce {
            let row = Comparison("nonce", .bytes(evidence.nonce.bytes), expected: .text("not the last attestation's"))
            look.walk.add("attestation's first use", last != evidence.nonce, else: .challengeConsumed, row)
        }
        if let last = known.issued {
            let presented = "issued \(Self.text(evidence.issued))"
            let row = Comparison("leaf", presented, expected: "not before the last accepted one: \(Self.text(last))")
            look.walk.add("order of attestations", evidence.issued >= last, else: .challengeConsumed, row)
        }
    }

    private static func text(_ issued: IssueTime) -> String {
        "\(ReportValue.time(issued.notBefore)), serial \(issued.serial)"
    }

    /// - Parameter presented: an attestation's own environment.
    private func bound(_ key: KeyRecord, app: Int, presented: Environment?, _ walk: inout CheckWalk) {
        let own = settings.registry.apps[app]
        let isSame = key.app.map { $0 == own.name } ?? own.expectations.appIDs.contains { $0.text == key.appleAppID }
        let owner = key.app ?? "an app that lists \(key.appleAppID)"
        let row = Comparison("app of the path", own.name, expected: owner)
        walk.add("key's app", isSame, else: .keyAlreadyBound, row)
        let accepted = own.expectations.accepts(key.environment) && presented ?? key.environment == key.environment
        let expected = presented.map { _ in "the key's: \(key.environment.rawValue)" } ?? environments(app)
        let shown = presented ?? key.environment
        let environment = Comparison("key's environment", shown.rawValue, expected: expected)
        walk.add("key's environment", accepted, else: .keyAlreadyBound, environment)
    }

    func assertion(_ object: [UInt8], _ hash: [UInt8], app: Int, _ artifact: Artifact?, _ look: inout SecondLook) {
        let policy = settings.registry.apps[app].unknownKeys
        let isRestored = look.state.key == nil && artifact != nil && policy == .restore && settings.mayRestoreKeys
        let key = look.state.key?.publicKey ?? (isRestored ? artifact?.publicKey : nil)
        var arguments = arguments(hash, app: app)
        arguments.key = key
        let report = verifier.inspectAssertion(object, arguments, engine: engine)
        look.object = report
        for check in report.checks {
            look.walk.add(check)
            if check.name == "object" {
                storedKey(look.state.key, isRestored: isRestored, artifact, policy, &look.walk)
            }
        }
        guard report.refusal == nil, let key else { return }
        let evidence = verifier.prepareAssertion(
            object,
            clientDataHash: hash,
            key: key,
            expectations: settings.registry.apps[app].expectations
        ).verified(by: engine)
        guard let evidence = try? evidence.get() else { return }
        if let known = look.state.key { bound(known, app: app, presented: nil, &look.walk) }
        let own = look.state.key?.appleAppID ?? artifact?.appleAppID ?? ""
        let isOwn = Bytes.areEqual(own, evidence.appID.text)
        let names = Comparison("App ID", evidence.appID.text, expected: "the key's own: \(own)")
        look.walk.add("key's App ID", isOwn, else: .object(.appIDMismatch), names)
        let stored = look.state.key?.counter ?? 0
        let counter = Comparison("counter", .number(Int64(evidence.counter)), expected: .text("greater than \(stored)"))
        look.walk.add("counter", evidence.counter > stored, else: .counterNotGreater, counter)
    }

    private func storedKey(
        _ key: KeyRecord?,
        isRestored: Bool,
        _ artifact: Artifact?,
        _ policy: UnknownKeyPolicy,
        _ walk: inout CheckWalk
    ) {
        let expected = "a key in the ledger" + (policy == .restore ? ", or in the request's artifact" : "")
        let presented = key != nil ? "in the ledger" : isRestored ? "in the artifact" : "neither in the ledger"
        let inArtifact = artifact == nil ? " nor in an artifact" : ", and unknownKeys is \(policy.rawValue)"
        let shown = presented + (key == nil && !isRestored ? inArtifact : "")
        walk.add(
            "stored key",
            key != nil || isRestored,
            else: .unknownKey,
            Comparison("key", shown, expected: expected)
        )
        guard let key else { return }
        let isUsable = key.publicKey != nil
        let row = Comparison("stored point", isUsable ? "a point" : "no point", expected: "a point of P-256")
        walk.add("stored point", isUsable, else: .object(.keyInvalid), row)
    }
}
