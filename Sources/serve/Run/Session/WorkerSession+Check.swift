internal import Broker
internal import CommandFrame
internal import Pipeline
internal import Settings
internal import Telemetry

/// `run --check`, and what it shares with the start of a run.
extension WorkerSession {
    /// Validates everything that needs no record consumed, the broker included.
    ///
    /// - Throws: ``CommandFault`` for a finding that keeps the worker from running.
    package func check() throws {
        let findings = try CommandFault.explaining("cannot query the broker") {
            let found = try access.findings(Self.lastTimeout)
            return configuration.delivery == .exactlyOnce
                ? try found + access.transactionFindings(loops: configuration.loopCount) : found
        }
        try refuse(findings, print) { $0.severity == .problem }
        let partitions = try CommandFault.explaining("cannot query the broker") { try access.partitions() }
        let other = try CommandFault.explaining("the ledger's marks cannot be read") {
            try access.otherPartitions(than: partitions)
        }
        if let sentence = KeyPlacement.contradiction(other, partitions.requests) { throw CommandFault("\(sentence).") }
        sayInOrder(findings, partitions, print)
        try sayDoubts()
    }

    /// Prints configuration warnings; errors were thrown on load.
    package func checkConfiguration() throws {
        print(LogEvent(.info, .starting, "configuration, anchors and keys are in order; no broker was asked"))
        try sayDoubts()
    }

    private func sayDoubts() throws {
        for note in StartDoubts.here.notes(configuration) { print(LogEvent(.info, .starting, note)) }
        sayDoubtful(try doubts + loaded.unsteadyKeys(), print)
    }

    private func print(_ event: LogEvent) {
        guard event.level > .info else { return console.print(event.message) }
        console.printError("warning: \(event.message)")
    }

    /// Doubts about the configuration, one line each.
    var doubts: [String] {
        // The embedded broker makes it a trial run, whatever else is configured.
        let lab = configuration.embeddedBroker ? [] : LabAnchors.warnings(configuration.anchors)
        return loaded.warnings(now: WallClock.milliseconds()) + lab + StartDoubts.here.ofWorker(configuration)
    }

    /// - Throws: ``CommandFault`` for findings that keep the worker from running; then the others are said before.
    func refuse(
        _ findings: [TopicFinding],
        _ say: (LogEvent) -> Void,
        isFatal: (TopicFinding) -> Bool
    ) throws(CommandFault) {
        let problems = findings.filter(isFatal).map(\.message)
        guard !problems.isEmpty else { return }
        sayFound(findings.filter { !isFatal($0) }, say)
        throw CommandFault(problems.joined(separator: "; "))
    }

    /// Says what was found, which keeps no worker from running.
    func sayInOrder(_ findings: [TopicFinding], _ partitions: TopicPartitions, _ say: (LogEvent) -> Void) {
        sayFound(findings, say)
        let count = Int(partitions.requests).counted("partition")
        say(LogEvent(.info, .starting, "configuration, anchors and topics are in order: \(count)"))
    }

    private func sayFound(_ findings: [TopicFinding], _ say: (LogEvent) -> Void) {
        if let address = access.embeddedAddress {
            say(LogEvent(.info, .starting, "the embedded broker listens on \(address)"))
        }
        sayDoubtful(findings.map(\.message), say)
    }

    private func sayDoubtful(_ lines: [String], _ say: (LogEvent) -> Void) {
        for line in lines { say(LogEvent(.warning, .configurationDoubtful, line)) }
    }
}
