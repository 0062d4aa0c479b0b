internal import AppAttest
internal import AppCheck
internal import CommandFrame
internal import Crypto
internal import Glibc
internal import HTTPClient
internal import Refresher
internal import Risk
internal import Run
internal import Settings

extension Command {
    static let exchangeReceipt = Command(
        name: "exchange-receipt",
        summary: "one receipt of a file exchanged at Apple: status, headers, the new receipt explained",
        options: [
            .value("--config", "DIR", "the configuration, with risk.keys and the anchors", .required),
            .environment("the host to call (the receipt's environment)"),
            .value("--output", "FILE", "write the new receipt's bytes to this new file, mode 600"),
            .flag("--bearer", "send the token after Bearer, not bare"),
            .value("--token-age", "SECONDS", "date the token back (0)"),
            .flag("--early", "send the receipt before its Not Before"),
        ],
        operands: Command.Operands("FILE|-", count: 0...1, summary: "the receipt, as its bytes or in Base64"),
        notes: """
            Exit code 0: Apple sent the receipt's successor, or 304. Anything else ends with 1, and so does a receipt
            before its Not Before without --early. The token, the receipts and the key are never printed, and no other
            key file is opened.
            Apple does not document these points, and a call with a developer's account shows them: an old receipt sent
            a second time (200 or 304); an early call (--early); how old a token may be (--token-age); whether Bearer is
            taken (--bearer); whether a receipt crosses over to the other environment (--environment); the dates of
            production's receipts; Retry-After and bodies of errors.
            """,
        run: { try ExchangeReceiptCommand($0).run($1) }
    )
}

/// `exchange-receipt`: reads its arguments and files, calls once and tells what came back.
struct ExchangeReceiptCommand {
    private static let mostTokenAge = 10_000_000
    private static let pollMilliseconds = 100

    private let configuration: Configuration
    private let receipt: SentReceipt
    private let key: ProviderKey
    private let environment: Environment
    private let output: String?
    private let isBearer: Bool
    private let tokenAge: Int64

    init(_ arguments: Arguments) throws {
        configuration = try Configuration.load(directory: try arguments.required("--config"))
        guard let path = arguments.operands.first else { throw UsageFault("exchange-receipt: FILE|- is missing.") }
        receipt = try SentReceipt(path)
        key = try Self.key(configuration, for: receipt.appID)
        environment = try Self.environment(arguments, receipt)
        output = arguments.string("--output")
        isBearer = arguments.has("--bearer")
        tokenAge = Int64(try arguments.integer("--token-age", in: 0...Self.mostTokenAge) ?? 0)
        let now = WallClock.now()
        if let notBefore = receipt.content.notBefore, now < notBefore, !arguments.has("--early") {
            throw CommandFault(
                "the receipt may not be exchanged before \(TimeText.rfc3339(notBefore.milliseconds)): wait, or send it "
                    + "with --early."
            )
        }
        if let output { try Self.checkOutput(output) }
    }

    func run(_ console: Console) throws -> Int32 {
        let token = ProviderToken(key, at: EvaluationTime(milliseconds: WallClock.milliseconds() - tokenAge * 1_000))
        let authorization = (isBearer ? Array("Bearer ".utf8) : []) + token.text
        let sent = "sends \(receipt.account) to \(configuration.risk.endpoint(environment))"
        console.print("\(sent)\nwith a token of team \(key.team), key \(key.kid), \(tokenAge) s old")
        if let own = receipt.content.environment, own != environment {
            console.printError("warning: the receipt is of \(own.rawValue) and goes to \(environment.rawValue)")
        }
        let ending = try ending(authorization)
        let view = ExchangeView(ending, sent: [authorization, receipt.bytes, receipt.base64])
        console.print(view.text)
        let outcome = try judged(ending)
        console.print("outcome: \(ExchangeView.describe(outcome))")
        if case .receipt(let new)? = ending.reply.answer?.content { try take(new, at: ending.time, console) }
        return ExchangeView.isDone(outcome) ? ExitCode.done : ExitCode.failed
    }

    /// Shows the new receipt, and writes it.
    private func take(_ new: [UInt8], at time: EvaluationTime, _ console: Console) throws {
        console.print("\n" + (try InspectCommand(receipt: new, configuration, at: time).text()))
        guard let output else { return }
        try NewFile.create(output, new)
        console.print("\nwrote \(new.count.counted("byte")) to \(output)")
    }

    private func ending(_ authorization: [UInt8]) throws -> ExchangeEnding {
        var options = ReceiptCaller.options
        // All headers are shown.
        (options.connections, options.headers) = (1, nil)
        let caller = try ReceiptCaller(configuration.risk, options)
        caller.begin(receipt.bytes, environment, authorization: authorization, tag: 1)
        // Ends with the call's own time-out at the latest.
        while true {
            if let ending = caller.poll(milliseconds: Self.pollMilliseconds, now: WallClock.now).first { return ending }
        }
    }

    private func judged(_ ending: ExchangeEnding) throws -> CallOutcome {
        let appID = AppID(receipt.appID)
        guard let judgement = RefreshJudgement(sent: receipt.bytes, appID: appID, environment: environment) else {
            preconditionFailure("the receipt was read before")
        }
        let verifier = ObjectVerifier(anchors: try configuration.trustAnchors())
        return ending.reply.outcome { judgement.judge($0, at: ending.time, by: verifier, engine: OpenSSLEngine()) }
    }

    // MARK: Arguments

    /// Asked before the call: a receipt that was exchanged may not come a second time.
    private static func checkOutput(_ path: String) throws(UsageFault) {
        // The paths are copied for the calls.
        guard unsafe access(path, F_OK) != 0 else {
            throw UsageFault("--output: \(path.printable) already exists and is not overwritten.")
        }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard unsafe access(folder, W_OK) == 0 else {
            throw UsageFault("--output: nothing can be written in \(folder.printable).")
        }
    }

    private static func key(_ configuration: Configuration, for appID: String) throws -> ProviderKey {
        let keys = try DeviceCheckKeys.load(configuration)
        guard let key = keys.first(where: { $0.speaks(forAppID: appID) }) else {
            throw ConfigurationFault(
                "worker.json: risk.keys: no key serves the receipt's App ID \(appID.printable): add the team's key, or the "
                    + "prefix to its appIDPrefixes."
            )
        }
        return key
    }

    private static func environment(_ arguments: Arguments, _ receipt: SentReceipt) throws(UsageFault) -> Environment {
        guard let environment = try arguments.environment() ?? receipt.content.environment else {
            throw UsageFault("--environment is needed: the receipt does not say its own.")
        }
        return environment
    }
}

extension Option {
    static func environment(_ summary: String) -> Option {
        .value("--environment", "NAME", summary, choices: ["production", "development"])
    }
}

extension Arguments {
    /// The environment that `--environment` names; nil where it is absent.
    func environment() throws(UsageFault) -> Environment? {
        guard let name = string("--environment") else { return nil }
        guard let environment = Environment(rawValue: name) else {
            throw UsageFault("--environment must be production or development, not '\(name.printable)'.")
        }
        return environment
    }
}
