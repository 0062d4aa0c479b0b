internal import AppAttest
internal import CommandFrame
internal import Crypto
internal import DeviceLab
internal import HTTP
internal import Lab
internal import Run
internal import Settings

extension Command {
    static let labApple = Command(
        name: "lab-apple",
        summary: "a double of Apple's receipt exchange, for receipts of fake devices",
        options: [
            .value("--config", "DIR", "the configuration, with its lab authority", .required),
            .value("--key", "TEAM:KID:FILE", "a team's key on P-256, public or private, in PEM", .repeatable),
            .value("--port", "N", "the port on 127.0.0.1 (any free one)"),
            .environment("the environment whose receipts it takes (production)"),
            .value("--not-before", "SECONDS", "from a receipt's creation to its Not Before (86400)"),
            .value("--expiry", "SECONDS", "from a receipt's creation to its expiry (7776000)"),
            .flag("--once", "a receipt that was exchanged gets 304 until the newest one's Not Before"),
            .value("--ahead", "SECONDS", "how far its clock is ahead of this machine's, or behind where negative (0)"),
            .value("--faults", "SHARE", "share of calls whose answer has a fault, 0 to 1 (0)"),
            .value(
                "--fault",
                "NAME",
                "one of the faults that are drawn (all)",
                .repeatable,
                choices: AppleFault.allCases.map(\.name)
            ),
            .value("--seed", "S", "the same seed draws the same faults in the same order of calls (1)"),
        ],
        notes: """
            It serves POST \(LabApple.path) over HTTP until SIGTERM or SIGINT, and then prints how many calls it answered
            with each status. The metric counts the keys that one device attested for one app within 30 days, as far as
            their receipts were sent here: nothing is kept after the end. TEAM may be TEAM,PREFIX,... where the App IDs
            have other prefixes than the team. At least one key is needed. For tests only.
            """,
        run: { try LabAppleCommand($0, $1).run() }
    )
}

/// `lab-apple`: reads its arguments and files, and serves until a signal asks for the end.
struct LabAppleCommand {
    /// Ten years: sums with it stay far from overflow.
    private static let mostSeconds = 315_360_000
    private static let mostKeyBytes = 16 << 10
    private static let pause = Duration.milliseconds(50)

    private let apple: LabApple
    private let port: UInt16
    private let ahead: Int64
    private let console: Console

    init(_ arguments: Arguments, _ console: Console) throws {
        self.console = console
        port = UInt16(clamping: try arguments.integer("--port", in: 0...65_535) ?? 0)
        ahead = Int64(try arguments.integer("--ahead", in: -Self.mostSeconds...Self.mostSeconds) ?? 0)
        var settings = LabApple.Settings(keys: try arguments.strings("--key").map(Self.key))
        guard !settings.keys.isEmpty else { throw UsageFault("--key is required: TEAM:KID:FILE.") }
        settings.environment = try arguments.environment() ?? .production
        let standard = ReceiptSpans()
        settings.dates = ReceiptSpans(
            notBeforeSeconds: try Self.seconds("--not-before", arguments) ?? standard.notBeforeSeconds,
            expirySeconds: try Self.seconds("--expiry", arguments) ?? standard.expirySeconds
        )
        settings.exchangesAgain = !arguments.has("--once")
        settings.faultShare = try arguments.number("--faults", in: 0...1) ?? 0
        settings.faults = try Self.faults(arguments)
        settings.seed = try arguments.seed("--seed") ?? 1
        apple = LabApple(try NewConfiguration.authority(of: try arguments.required("--config")), settings)
    }

    func run() throws -> Int32 {
        let stopped = StopFlag()
        let shutdown = Shutdown { _ in stopped.set() }
        defer { shutdown.cancel() }
        let server = try serve()
        console.print("lab-apple answers at \(server.url) for \(apple.settings.environment.rawValue)")
        while !stopped.isSet { ProgramShell.pause(Self.pause) }
        server.stop()
        for line in Self.lines(server.account) { console.print(line) }
        return ExitCode.done
    }

    private func serve() throws -> LabAppleServer {
        let ahead = ahead * 1_000
        do throws(HTTPFault) {
            return try LabAppleServer(apple, port: port) {
                EvaluationTime(milliseconds: WallClock.milliseconds() + ahead)
            }
        } catch { throw CommandFault("\(error.description); name another --port, or none.") }
    }

    static func lines(_ account: LabApple.Account) -> [String] {
        let statuses = account.statuses.sorted { $0.key < $1.key }.map { "\($0.value) with \($0.key)" }
        let faults = "\(account.faults.counted("answer")) had a fault"
        return [
            "answered \(account.calls.counted("call"))\(statuses.isEmpty ? "" : ": ")"
                + "\(statuses.joined(separator: ", ")); \(faults)"
        ]
    }

    private static func seconds(_ name: String, _ arguments: Arguments) throws(UsageFault) -> Int64? {
        try arguments.integer(name, in: 0...mostSeconds).map(Int64.init)
    }

    private static func faults(_ arguments: Arguments) throws(UsageFault) -> [AppleFault] {
        let names = arguments.strings("--fault")
        guard !names.isEmpty else { return AppleFault.allCases }
        guard arguments.has("--faults") else { throw UsageFault("--fault needs --faults: no answer has a fault.") }
        return try names.map { name throws(UsageFault) in
            guard let fault = AppleFault.named(name) else {
                let known = AppleFault.allCases.map(\.name)
                throw UsageFault(
                    "--fault: unknown fault '\(name.printable)'\(Suggestion.ending(for: name, among: known))"
                )
            }
            return fault
        }
    }

    /// - Parameter text: `TEAM:KID:FILE`; TEAM may be followed by App ID prefixes.
    private static func key(_ text: String) throws -> DeviceCheckKey {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        let names = parts[0].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, !parts.contains(""), !names.contains("") else {
            throw UsageFault("--key must be TEAM:KID:FILE, not '\(text.printable)'.")
        }
        let bytes = try file(parts[2])
        guard let key = publicKey(bytes) else {
            throw UsageFault("--key: \(parts[2].printable) is neither a public nor a private key on P-256.")
        }
        let prefixes = names.count > 1 ? Array(names.dropFirst()) : nil
        return DeviceCheckKey(team: names[0], kid: parts[1], publicKey: key, appIDPrefixes: prefixes)
    }

    private static func file(_ path: String) throws(UsageFault) -> [UInt8] {
        do throws(CommandFault) { return try WholeFile.read(path, most: mostKeyBytes) } catch {
            throw UsageFault("--key: \(error.sentence)")
        }
    }

    private static func publicKey(_ bytes: [UInt8]) -> VerificationKey? {
        if let point = P256PublicKey(anyForm: bytes) { return VerificationKey(.p256(point)) }
        guard let key = try? SigningKey(pem: bytes), key.kind == .p256 else { return nil }
        return key.publicKey
    }
}
