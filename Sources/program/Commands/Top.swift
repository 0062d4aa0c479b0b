internal import Broker
internal import CommandFrame
internal import Glibc
internal import Run
internal import Settings
internal import Study
internal import Telemetry

extension Command {
    static let top = Command(
        name: "top",
        summary: "show what workers and gateways do, on one screen",
        options: [
            .value("--config", "DIR", "look at the worker of this directory, by its metrics port"),
            .value("--instances", "HOST:PORT,…", "the metrics addresses to look at, any number of them", .repeatable),
            .value("--interval", "SECONDS", "time between two looks, 1 to 60 (1)"),
            .flag("--once", "two looks, as plain text; so without a terminal"),
        ],
        notes: """
            First what is wrong: instances that do not answer, held partitions with what helps, open transactions
            of producers. Then each worker and gateway, requests by app, verb, verdict and reason, partitions that are
            behind, tokens. Rates are of the time between the last two looks. Where the screen is small, the lower
            parts give way. In the tables "refused" is a rate too, "open" the records that open transactions hold back,
            and "late" the calls that got no answer in time.

            It reads /metrics and /status of each instance: every process of workers, gateways and refreshers serves
            them at its metrics port. It ends with Ctrl-C. With --once the exit code is 1 if no instance answers.
            """
    ) { arguments, console in
        let session = try TopSession(arguments)
        return try arguments.has("--once") || isatty(STDOUT_FILENO) != 1 ? session.print(console) : session.show()
    }
}

/// One run of `top`.
struct TopSession {
    private static let pauseMilliseconds = 50
    private static let plainColumns = 120

    private let rounds: TopRounds
    private let interval: Duration
    private let stopped = StopFlag()

    init(_ arguments: Arguments) throws {
        interval = .seconds(try arguments.integer("--interval", in: 1...60) ?? 1)
        rounds = try TopRounds(Self.addresses(arguments))
    }

    static func addresses(_ arguments: Arguments) throws -> [String] {
        let named = arguments.strings("--instances").flatMap { $0.split(separator: ",").map(String.init) }
        if let wrong = named.first(where: { !$0.contains(":") || $0.contains { "/@?#".contains($0) } }) {
            throw UsageFault("--instances takes HOST:PORT, such as worker-1:9464, not '\(wrong.printable)'.")
        }
        if !named.isEmpty { return named }
        guard let directory = arguments.string("--config") else {
            throw UsageFault("top: name --instances HOST:PORT, or --config DIR of a worker on this machine.")
        }
        let configuration = try Configuration.load(directory: directory)
        guard configuration.metricsPort > 0 else {
            throw ConfigurationFault(
                "worker.json: metrics.port is 0: nothing is served to look at. Set it, such as to 9464, or name --instances."
            )
        }
        // What listens everywhere is here, too.
        let address =
            ["0.0.0.0": "127.0.0.1", "::": "::1"][configuration.metricsAddress] ?? configuration.metricsAddress
        return [(address.contains(":") ? "[\(address)]" : address) + ":\(configuration.metricsPort)"]
    }

    private func lines(columns: Int, rows: Int?) -> [String] {
        TopScreen.lines(rounds.instances, columns: columns, rows: rows, at: WallClock.milliseconds())
    }

    func print(_ console: Console) throws -> Int32 {
        rounds.ask()
        ProgramShell.pause(interval)
        rounds.ask()
        for line in lines(columns: Self.plainColumns, rows: nil) { console.print(line) }
        return rounds.instances.contains { $0.now != nil } ? ExitCode.done : ExitCode.failed
    }

    /// Draws until a signal comes.
    func show() throws -> Int32 {
        let (screen, stopped) = (LiveScreen(), stopped)
        // Closed by the signal itself: a second one ends the process at once.
        let shutdown = Shutdown { _ in
            screen.close()
            stopped.set()
        }
        // A stopped process would leave its screen to the shell.
        signal(SIGTSTP, SIG_IGN)
        defer {
            screen.close()
            shutdown.cancel()
        }
        try screen.open()
        while !stopped.isSet {
            let next = ContinuousClock.now + interval
            rounds.ask { stopped.isSet }
            let size = Terminal.size
            let lines = lines(columns: size.columns, rows: size.rows)
            do { try screen.draw(lines) } catch let fault as WriteFault where fault.isBrokenPipe { break }
            while !stopped.isSet, ContinuousClock.now < next {
                ProgramShell.pause(.milliseconds(Self.pauseMilliseconds))
            }
        }
        return ExitCode.done
    }
}
