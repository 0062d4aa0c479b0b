internal import BrokerKit

/// The end of a run: what closes the topics, and what holds them against the worker's promises.
extension ChaosRun {
    /// One more request on each partition, in batches of their own: what a partition's last batch used up and saw expire
    /// only a further batch forgets.
    func close() throws {
        guard report.drainSeconds != nil, settings.exchangeShare > 0 else { return }
        try workplace.put((0..<settings.partitions).map(ChaosExchangeTraffic.closing))
        report.closing = Int(settings.partitions)
        let watch = workplace.drainWatch()
        let deadline = ContinuousClock.now + Self.timeBudget
        while try !watch.isDrained(), ContinuousClock.now < deadline { try tick() }
    }

    func check() throws {
        say("checking")
        watch?.stop()
        let reader = ChaosReader(workplace: workplace, before: before, isSpoilt: isSpoilt)
        var reading = try reader.read()
        reading.evidence.clients = clients?.report
        report.requests = reading.evidence.requests.count - report.closing
        report.uncertain = producer.status.uncertain
        report.outcomes = reading.evidence.outcomes.count
        report.unseen = reading.unseen
        report.clients = clients?.report
        report.findings = ChaosChecker.check(reading.evidence)
        if !report.findings.differing.isEmpty {
            for line in try reader.lines(of: report.findings.differing) { report.findings.explain(.bytesDiffer, line) }
        }
        report.note(reading.evidence)
        noteClocks(reading.evidence)
        if let watch {
            report.silences = watch.silences(deeds)
            report.watchFault = watch.fault
        }
        (report.killsInTransaction, report.killsMissing) = crew.killsInTransaction
        for place in reading.open { report.findings.add(.openTransaction, place) }
        report.ends = crew.findings + brokers.findings
        report.gatewayEnds = gates?.crew.findings ?? []
        report.unheeded = person.findings
        report.late = network?.late ?? []
        report.longestEndingSeconds = crew.longestEnding / .seconds(1)
        report.producerRenewals = producer.status.renewals
        report.producerFault = producer.status.fault
        report.seconds = (.now - begin) / .seconds(1)
    }

    /// Whether an outcome was seen while a clock was wrong, or shortly after.
    private func wereClocksWrong(at outcome: ChaosOutcome) -> Bool {
        guard let clocks, let seconds = watch?.sighting(of: outcome) else { return false }
        return clocks.wereWrong(at: begin + .seconds(seconds))
    }

    /// Whether a wrong clock may have refused a request, which a replay, without any clock, accepts.
    private func isSpoilt(_ outcome: ChaosOutcome) -> Bool {
        guard let reason = outcome.reason, ChaosOutcome.clockReasons.contains(reason) else { return false }
        return wereClocksWrong(at: outcome)
    }

    private func noteClocks(_ evidence: ChaosEvidence) {
        guard let clocks else { return }
        report.clockJumps = clocks.jumps
        for outcome in evidence.outcomes {
            guard let reason = outcome.reason, ChaosOutcome.timeReasons.contains(reason), wereClocksWrong(at: outcome)
            else { continue }
            report.refusedByClock[reason, default: 0] += 1
        }
    }
}
