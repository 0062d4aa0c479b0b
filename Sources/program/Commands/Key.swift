internal import AppAttest
internal import AppCheck
internal import Broker
internal import CommandFrame
internal import Pipeline
internal import Settings

extension Command {
    static let key = Command(
        name: "key",
        summary: "show what the ledger has of one key",
        options: [.value("--config", "DIR", "the configuration directory", .required)],
        operands: Command.Operands(
            "KEY",
            count: 1...1,
            summary: "a key ID, as results name it, or the device of an event, 16 hexadecimal digits"
        ),
        notes: """
            Its app, counter, ban, risk metric and last accepted request, as committed when the command started. Workers
            may keep running.

            An event names a device by a hash, of its installation where the request names one, else of its key ID: of
            the second kind the command finds the key ID, which ban and forget take.

            The exit code is 1 if the ledger has no such key.
            """
    ) { arguments, console in
        let text = arguments.operands[0]
        guard let subject = KeyLookup.Subject(text) else {
            throw UsageFault(
                "KEY must be a key ID, 44 characters of base64, or 16 hexadecimal digits of an event's device, not "
                    + "'\(text.printable)'."
            )
        }
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        let findings = try ProgressMeter.during("key", unit: "ledger record", console: console) { done in
            try KeyLookup.findings(
                of: subject,
                try LedgerAccess(configuration),
                partitioner: configuration.partitioner,
                progress: done
            )
        }
        guard !findings.isEmpty else {
            console.print("the ledger has no such key: it was not attested here, or was forgotten")
            return ExitCode.failed
        }
        let view = KeyView(registry: configuration.registry, keys: configuration.keys)
        console.print(findings.map(view.text).joined(separator: "\n\n"))
        return ExitCode.done
    }
}

/// A key of the ledger as a terminal shows it.
struct KeyView {
    let registry: Registry
    var keys = KeySettings()

    func text(_ finding: KeyLookup.Finding) -> String {
        var table = TextTable()
        table.add("key", finding.key.base64)
        table.add("partition", "\(finding.partition)")
        if let record = finding.record {
            add(record, finding.streamTime, to: &table)
            addUse(of: record, finding.mark, to: &table)
        } else {
            table.add("record", "none")
        }
        table.add("ban", finding.ban.map { ban($0, finding.streamTime) } ?? "none")
        return table.text
    }

    private func add(_ record: KeyRecord, _ streamTime: EvaluationTime?, to table: inout TextTable) {
        table.add("app", record.app.map(label) ?? "none yet: the first accepted request binds it")
        table.add("Apple App ID", record.appleAppID)
        table.add("environment", record.environment.rawValue)
        table.add("registered", Self.time(record.registeredAt))
        let skipped = KeyCounters(highest: record.counter, skipped: record.skipped).skippedCounters
        let open = skipped.isEmpty ? "" : ", skipped: \(skipped.map(String.init).joined(separator: ", "))"
        table.add("counter", "\(record.counter)\(open)")
        if record.publicKey == nil { table.add("public key", "unusable: each assertion is key-invalid") }
        table.add("risk metric", record.risk.map { risk($0, streamTime) } ?? "not known")
        table.add("last accepted request", record.lastRequest.map(request) ?? "none")
    }

    private func addUse(of record: KeyRecord, _ mark: PartitionMark?, to table: inout TextTable) {
        guard keys.expire, let use = record.use(by: mark) else { return }
        let hasEnded = mark?.streamTime.map { keys.hasEnded(use, at: $0) } ?? false
        let end = EvaluationTime(milliseconds: use.milliseconds + keys.expireAfterMilliseconds)
        table.add("last use", "\(Self.time(use)), \(hasEnded ? "ended" : "ends") \(Self.time(end))")
    }

    private func label(_ name: String) -> String {
        registry.apps.first { $0.name == name }?.label ?? "\(name), which apps.json does not list"
    }

    private func risk(_ metric: RiskMetric, _ streamTime: EvaluationTime?) -> String {
        let time = EvaluationTime(seconds: Int64(metric.createdAt))
        let counts = streamTime.map { metric.counts(at: $0) } ?? true
        return "\(metric.value), of \(Self.time(time))" + (counts ? "" : ", too old to count")
    }

    private func request(_ request: LastRequest) -> String {
        guard request.issuedAt > 0 else { return "\(request.id)" }
        let times = [request.issuedAt, request.expiresAt].map { Self.time(EvaluationTime(seconds: Int64($0))) }
        return "\(request.id), token from \(times[0]) to \(times[1])"
    }

    private func ban(_ ban: Ban, _ streamTime: EvaluationTime?) -> String {
        let end = ban.until.map { "until \(Self.time($0))" } ?? "until unban"
        let counts = streamTime.map { ban.counts(at: $0) } ?? true
        return "since \(Self.time(ban.since)), \(end)" + (counts ? "" : ", which has passed")
    }

    private static func time(_ time: EvaluationTime) -> String { TimeText.rfc3339(time.milliseconds) }
}
