internal import AppAttest
internal import AppCheck
internal import CommandFrame
internal import Crypto
internal import JSON
internal import Run
internal import Settings

extension Command {
    static let inspect = Command(
        name: "inspect",
        summary: "one object, or one record of a capture, explained field by field, each check with its result",
        options: [
            .value("--config", "DIR", "judge by this configuration's anchors, apps and keys (Apple's roots, no app)"),
            .value("--app-id", "ID", "an App ID to accept, instead of the configuration's", .repeatable),
            .value("--key-id", "B64", "the key ID that the object must have"),
            .value("--public-key", "B64", "the attested key, 65 bytes, to check an assertion with"),
            .value("--client-data-hash", "B64", "the client data hash"),
            .value("--client-data", "FILE", "a file to hash instead"),
            .value("--at", "TIME", "judge dates as of this time (the time of issue, dates not judged; a token's: now)"),
            .value("--input", "CAPTURE", "explain a record of this capture, not an object; - for standard input"),
            .value("--record", "PARTITION/OFFSET", "the record"),
            .value("--request-id", "ID", "the record, as the first with this request id"),
            .value("--keys", "KEYS", "the keys known before the first record, as for replay"),
            .value("--now", "TIME", "judge the record's age as a worker does at this time"),
            .value("--partitions", "N", "judge keys' partitions and rates as on a topic of N partitions"),
            .flag("--skip-bad-lines", "skip and count lines of the capture that are not records"),
            .flag("--json", "the report as one JSON object"),
            .runPrograms,
        ],
        operands: Command.Operands(
            "FILE|BASE64|-",
            count: 0...1,
            summary: "the object, its base64 or hex, or an App Check token: a file, on the line, or standard input"
        ),
        notes: """
            Base64 is taken in either alphabet, padded or not. A check that cannot be judged names the option
            that it needs.
            With --input, --config and either --record or --request-id, all records before that one go through
            the pipeline first. The report shows the key, the counter and the times that the record met, each
            check with what was presented and expected, and the verdict as 'run' decides it. No token,
            artifact or challenge is printed.
            """,
        run: { arguments, console in
            if let input = arguments.string("--input") {
                return try InspectRecord(arguments, input: input).run(console)
            }
            if let option = InspectRecord.ofRecords.first(where: { arguments.has($0) }) {
                throw UsageFault("\(option) needs --input CAPTURE: it is about a record of a capture.")
            }
            return try InspectCommand(arguments).run(console)
        }
    )
}

/// `inspect`: gathers the arguments of the checks, and prints the verifier's own report.
struct InspectCommand {
    private let object: InspectedObject
    private let configuration: Configuration?
    private let anchors: TrustAnchors
    private let appIDs: [AppID]
    private let keyID: KeyID?
    private let publicKey: P256PublicKey?
    /// The content of ``--client-data``, and the hash of it or that given instead.
    private let clientData: [UInt8]?
    private let clientDataHash: [UInt8]?
    private let time: EvaluationTime?
    private let isJSON: Bool
    private let runsPrograms: Bool

    init(_ arguments: Arguments) throws {
        configuration = try arguments.string("--config").map { try Configuration.load(directory: $0) }
        runsPrograms = arguments.has("--run-programs")
        anchors = try configuration?.trustAnchors() ?? Self.appleAnchors()
        appIDs = arguments.strings("--app-id").map { AppID($0) }
        keyID = try Self.keyID(arguments)
        publicKey = try Self.publicKey(arguments)
        clientData = try Self.clientData(arguments)
        let hash = try Self.bytes(arguments, "--client-data-hash", "a hash")
        clientDataHash = clientData.map { SHA256.hash($0).bytes } ?? hash
        time = try arguments.time("--at").map { EvaluationTime(milliseconds: $0) }
        isJSON = arguments.has("--json")
        guard let operand = arguments.operands.first else { throw UsageFault("inspect: FILE|BASE64|- is missing.") }
        object = try InspectedObject(operand)
    }

    /// A receipt that another command has got, judged by its configuration as of `time`.
    init(receipt: [UInt8], _ configuration: Configuration, at time: EvaluationTime) throws(ConfigurationFault) {
        self.configuration = configuration
        anchors = try configuration.trustAnchors()
        (appIDs, keyID, publicKey, clientData, clientDataHash) = ([], nil, nil, nil, nil)
        (self.time, isJSON, object) = (time, false, InspectedObject(receipt: receipt))
        runsPrograms = false
    }

    func run(_ console: Console) throws -> Int32 {
        var view = try view()
        view.form = object.form == .hex ? object.form.rawValue : nil
        if isJSON { console.print(json: view.json) } else { console.print(view.text) }
        return ExitCode.done
    }

    func text() throws(ConfigurationFault) -> String { try view().text }

    // MARK: Arguments

    private static func appleAnchors() throws -> TrustAnchors {
        try TrustAnchors(
            attestationPEM: [Array(AppleRoots.attestationPEM.utf8)],
            receiptPEM: [Array(AppleRoots.receiptPEM.utf8)]
        )
    }

    private static func bytes(_ arguments: Arguments, _ name: String, _ what: String) throws(UsageFault) -> [UInt8]? {
        guard let text = arguments.string(name) else { return nil }
        guard let bytes = Base64.decode(Array(text.utf8)) else {
            throw UsageFault("\(name) must be \(what) in base64, not '\(text.prefix(60).description.printable)'.")
        }
        return bytes
    }

    private static func keyID(_ arguments: Arguments) throws(UsageFault) -> KeyID? {
        guard let bytes = try bytes(arguments, "--key-id", "a key ID") else { return nil }
        guard let keyID = KeyID(bytes.span) else {
            throw UsageFault("--key-id must be 32 bytes in base64, not \(bytes.count.counted("byte")).")
        }
        return keyID
    }

    private static func publicKey(_ arguments: Arguments) throws(UsageFault) -> P256PublicKey? {
        guard let bytes = try bytes(arguments, "--public-key", "a public key") else { return nil }
        guard bytes.count == P256PublicKey.byteCount, bytes[0] == 0x04, let x = Digest(Array(bytes[1..<33])),
            let y = Digest(Array(bytes[33..<65]))
        else {
            let first = ReportValue.bytes(Array(bytes.prefix(1)))
            throw UsageFault(
                "--public-key must be 65 bytes in base64 that begin with 04, not \(bytes.count) that begin with \(first)."
            )
        }
        // Whether the point is on the curve is one of the checks.
        return P256PublicKey(uncheckedX: x, y: y)
    }

    /// The most bytes of a file that is hashed.
    private static let maxClientData = 64 << 20

    private static func clientData(_ arguments: Arguments) throws(UsageFault) -> [UInt8]? {
        guard let path = arguments.string("--client-data") else { return nil }
        guard !arguments.has("--client-data-hash") else {
            throw UsageFault("give either --client-data-hash or --client-data.")
        }
        guard let data = try? WholeFile.read(path, most: maxClientData) else {
            throw UsageFault("--client-data: cannot read \(path.printable).")
        }
        guard data.count <= maxClientData else {
            throw UsageFault("--client-data: \(path.printable) has more than \(maxClientData) bytes.")
        }
        return data
    }

    // MARK: The report

    private func view() throws(ConfigurationFault) -> InspectionView {
        switch object.kind {
        case .object(let kind):
            let report = report(kind)
            let fields = report.fields + notes(report)
            return InspectionView(kind: kind.rawValue, fields: fields, checks: report.checks, gaps: gaps(report))
        case .artifact:
            let expected = keyID ?? publicKey.map { KeyID(of: $0) }
            if let configuration, !runsPrograms { try ExchangeKeys.refusePrograms(configuration) }
            return try ArtifactInspection(artifact: object.bytes, configuration: configuration, keyID: expected).view
        case .token: return try tokenView()
        }
    }

    /// A token by the public key set, where the configuration names one, so that no secret is read; else by the keys that
    /// sign.
    private func tokenView() throws(ConfigurationFault) -> InspectionView {
        let time = time ?? WallClock.now()
        let path = configuration?.gateway.publicKeys
        let set = path.flatMap { try? VerificationKeys(jsonWebKeySet: WholeFile.read($0, most: Self.maxClientData)) }
        var verifier = set.map { TokenVerifier(publicKeys: $0) }
        if set == nil, let configuration {
            verifier = TokenVerifier(keys: try ExchangeKeys.load(configuration, absentKeys: .tolerated).rings.tokens)
        }
        let registry = configuration?.registry ?? Registry()
        let inspection = TokenInspection(object.bytes, by: verifier, in: registry, at: time)
        let source = set == nil ? "signingKeys of worker.json" : "gateway.publicKeys: \(path ?? "")"
        let notes = [
            ReportField(name: "judgedAt", value: .time(time)),
            ReportField(name: "judgedBy", value: .text(verifier == nil ? "no key" : source)),
        ]
        let gaps = CheckNames.token.map { ($0, InspectionView.Gap.needs("--config")) }
        return InspectionView(
            kind: "token",
            fields: inspection.fields + notes,
            checks: inspection.checks,
            gaps: Dictionary(uniqueKeysWithValues: verifier == nil ? gaps : [])
        )
    }

    private func report(_ kind: ObjectReport.Kind) -> ObjectReport {
        // First the object alone: it may name its app, and the time when it was made.
        let first = report(kind, expectations: nil, at: EvaluationTime(milliseconds: 0))
        let (expectations, time) = (expectations(first), time ?? Self.issued(first))
        let report = report(kind, expectations: expectations, at: time)
        var refused = RefusedObject(InspectedInput(kind, object.bytes, arguments(expectations)), report)
        refused.clientData = clientData.map { .data($0) } ?? .unknown
        refused.knownAppIDs = configuration?.registry.apps.flatMap(\.expectations.appIDs) ?? []
        return report.with(Reading.fitting(refused, verifier, at: time, engine: OpenSSLEngine()))
    }

    private var verifier: ObjectVerifier { ObjectVerifier(anchors: anchors) }

    private func arguments(_ expectations: Expectations?) -> InspectionArguments {
        var arguments = InspectionArguments()
        arguments.clientDataHash = clientDataHash
        arguments.keyID = keyID
        arguments.key = publicKey
        arguments.expectations = expectations
        return arguments
    }

    private func report(
        _ kind: ObjectReport.Kind,
        expectations: Expectations?,
        at time: EvaluationTime
    ) -> ObjectReport {
        let (engine, arguments) = (OpenSSLEngine(), arguments(expectations))
        switch kind {
        case .attestation: return verifier.inspectAttestation(object.bytes, arguments, at: time, engine: engine)
        case .assertion: return verifier.inspectAssertion(object.bytes, arguments, engine: engine)
        case .receipt:
            var expected = ReceiptExpectations(
                appIDs: expectations?.appIDs ?? [],
                environments: expectations?.environments ?? Set(Environment.allCases)
            )
            expected.publicKey = publicKey
            expected.clientDataHash = clientDataHash
            return verifier.inspectReceipt(object.bytes, expectations: expected, at: time, engine: engine)
        }
    }

    /// The expectations: the App IDs given, else the configured app that the object names, else any of them.
    private func expectations(_ report: ObjectReport) -> Expectations? {
        if !appIDs.isEmpty { return Expectations(appIDs: appIDs, environments: Set(Environment.allCases)) }
        guard let apps = configuration?.registry.apps, !apps.isEmpty else { return nil }
        return namedApp(report)?.expectations
            ?? Expectations(
                appIDs: apps.flatMap(\.expectations.appIDs),
                environments: Set(Environment.allCases)
            )
    }

    /// The configured app that the object names.
    private func namedApp(_ report: ObjectReport) -> RegisteredApp? {
        configuration?.registry.apps.first { $0.expectations.appIDs.contains { Self.names(report, $0) } }
    }

    /// The worker's answer to a request with this hash, before it looks at the object.
    private func notes(_ report: ObjectReport) -> [ReportField] {
        guard report.kind != .receipt, let hash = clientDataHash else { return [] }
        let length = namedApp(report)?.clientDataHash ?? .standard
        guard case .bytes(let bytes) = length, bytes != hash.count else { return [] }
        let text =
            "\(hash.count.counted("byte")): without clientDataHash.bytes in apps.json the worker accepts \(bytes) only"
        return [ReportField(name: "clientDataHash", value: .text("\(text) (malformed-request)"))]
    }

    private static func names(_ report: ObjectReport, _ appID: AppID) -> Bool {
        report.fields.contains { field in
            switch (field.name, field.value) {
            case ("authData.rpIdHash", .bytes(let hash)): hash == appID.rpIDHash.bytes
            case ("receipt.appId", .text(let text)): text == appID.text
            default: false
            }
        }
    }

    /// The time at which the object was made: a day after a leaf's notBefore, or a receipt's creation time.
    private static func issued(_ report: ObjectReport) -> EvaluationTime {
        func time(_ name: String) -> Int64? {
            guard case .time(let time)? = report.fields.first(where: { $0.name == name })?.value else { return nil }
            return time.milliseconds
        }
        if let notBefore = time("leaf.notBefore") { return EvaluationTime(milliseconds: notBefore + 86_400_000) }
        return EvaluationTime(milliseconds: time("receipt.createdAt") ?? 0)
    }

    /// Checks that were not judged, or only in part, and why.
    private func gaps(_ report: ObjectReport) -> [String: InspectionView.Gap] {
        var gaps: [String: InspectionView.Gap] = [:]
        func needs(_ option: String, unless isGiven: Bool, _ checks: String...) {
            if !isGiven { for check in checks { gaps[check] = .needs(option) } }
        }
        let hasApps = !appIDs.isEmpty || configuration?.registry.apps.isEmpty == false
        needs("--app-id or --config", unless: hasApps, "app ID", "app-id-mismatch")
        needs("--at", unless: time != nil, "dates", "from-future", "expired")
        needs("--client-data-hash or --client-data", unless: clientDataHash != nil, "nonce", "client-hash-mismatch")
        switch report.kind {
        case .attestation: needs("--key-id", unless: keyID != nil, "key")
        case .assertion:
            needs("--client-data-hash or --client-data", unless: clientDataHash != nil, "key", "signature")
            needs("--public-key", unless: publicKey != nil, "key", "signature")
        case .receipt:
            needs("--public-key", unless: publicKey != nil, "key-mismatch")
            gaps["missing"] = .because("the receipt is present")
            gaps["type"] = .because("a receipt alone may be of either type")
            gaps["too-old"] = .because("the five-minute limit needs the attestation")
            if report.fields.contains(where: { $0.name == "receipt.type" && $0.value == .text("RECEIPT") }) {
                gaps["client-hash-mismatch"] = .because("Apple's server corrupts the hash in receipts of type RECEIPT")
            }
        }
        return gaps
    }
}
