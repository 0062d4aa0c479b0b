internal import AppAttest
internal import AppCheck
internal import CommandFrame
internal import Pipeline
internal import Settings
internal import Study

/// `inspect --input`: one record of a capture, with everything that a worker knew of its key.
struct InspectRecord {
    /// Options that describe an object by itself; a record has all of that.
    private static let ofObjects = [
        "--app-id", "--key-id", "--public-key", "--client-data-hash", "--client-data", "--at",
    ]
    /// Options that need a capture.
    static let ofRecords = ["--record", "--request-id", "--keys", "--now", "--partitions", "--skip-bad-lines"]

    private let loaded: LoadedConfiguration
    private let options: RecordReplay.Options
    private let isJSON: Bool

    init(_ arguments: Arguments, input: String) throws {
        if let option = Self.ofObjects.first(where: { arguments.has($0) }) {
            throw UsageFault("\(option) is for an object by itself: the record of --input has its own.")
        }
        if let operand = arguments.operands.first {
            throw UsageFault("give either '\(operand.printable)' or --input.")
        }
        guard let directory = arguments.string("--config") else {
            throw UsageFault("--config DIR is required with --input: the record is judged by a configuration.")
        }
        options = try Self.options(arguments, input)
        loaded = try LoadedConfiguration.load(
            directory: directory,
            absentKeys: .tolerated,
            runsPrograms: arguments.has("--run-programs")
        )
        isJSON = arguments.has("--json")
    }

    private static func options(_ arguments: Arguments, _ input: String) throws(UsageFault) -> RecordReplay.Options {
        let sought: RecordSought
        switch (arguments.string("--record"), arguments.string("--request-id")) {
        case (let place?, nil): sought = try RecordSought(place: place)
        case (nil, let id?): sought = .requestID(Array(id.utf8))
        default: throw UsageFault("give either --record PARTITION/OFFSET or --request-id ID.")
        }
        let keys = arguments.string("--keys")
        guard input != "-" || keys != "-" else {
            throw UsageFault("--input and --keys cannot both be standard input.")
        }
        var options = RecordReplay.Options(input: input, record: sought, keys: keys)
        options.skipsBadLines = arguments.has("--skip-bad-lines")
        options.now = try arguments.time("--now").map { EvaluationTime(milliseconds: $0) }
        options.partitions = try arguments.integer("--partitions", in: 1...1_000_000).map { Int32($0) }
        return options
    }

    func run(_ console: Console) throws -> Int32 {
        if let line = loaded.keys.absenceWarning { console.printError("warning: \(line)") }
        var progress = ProgressMeter("inspect", unit: "record", total: nil, console: console)
        let replay = RecordReplay(loaded.configuration, keys: loaded.keys.rings, options)
        let outcome = try replay.run { progress.update($0) }
        progress.finish()
        for warning in outcome.warnings { console.printError("warning: \(warning)") }
        let view = ExplanationView(outcome.explanation, others: outcome.others)
        if isJSON { console.print(json: view.json) } else { console.print(view.text) }
        return ExitCode.done
    }
}
