internal import Member
internal import Pipeline
internal import Streams

/// A snapshot as a scrape.
struct MetricsPage {
    private let snapshot: WorkerSnapshot
    private let answers: AnswerSamples
    private var text: Exposition

    static func write(_ snapshot: WorkerSnapshot, _ format: Exposition.Format) -> [UInt8] {
        var page = MetricsPage(snapshot, format)
        page.writeProcess()
        page.writeRequests()
        page.writeWork()
        page.writePartitions()
        page.writeBrokers()
        return page.text.finish()
    }

    private init(_ snapshot: WorkerSnapshot, _ format: Exposition.Format) {
        self.snapshot = snapshot
        answers = AnswerSamples(snapshot.tally.answers, apps: snapshot.apps)
        text = Exposition(format)
    }

    private mutating func writeProcess() {
        let (build, process) = (snapshot.build, snapshot.process)
        let names = [build.version, build.librdkafka, build.openSSL, build.engine]
        text.write(.buildInfo, [MetricSample(names, whole: 1)])
        text.write(.reloadSuccessful, [MetricSample(flag: snapshot.isReloaded)])
        text.write(.reloadTime, [MetricSample(real: Double(snapshot.reloadedAt) / 1000)])
        text.write(
            .signingKeyPublished,
            snapshot.signingKeys.compactMap { key in
                key.published.map { MetricSample([key.kid, key.algorithm, key.state], real: Double($0) / 1000) }
            }
        )
        text.write(
            .signingKeyAway,
            snapshot.signingKeys.compactMap { key in
                key.isAway.map { MetricSample([key.kid, key.algorithm, key.state], flag: $0) }
            }
        )
        text.write(
            .anchorExpiry,
            snapshot.anchors.map { MetricSample([$0.list, $0.subject, $0.fingerprint], whole: $0.expires) }
        )
        text.write(process)
    }

    private mutating func writeRequests() {
        let tally = snapshot.tally
        for (family, samples) in answers.all { text.write(family, samples) }
        text.write(.riskMetric, answers.riskMetrics)
        text.write(.answerAge, [MetricSample([], .histogram(tally.answerAge, unit: 0.001))])
        text.write(.commitDuration, [MetricSample([], .histogram(tally.commitDuration, unit: 0.001))])
        text.write(.batchRecords, [MetricSample([], .histogram(tally.batchRecords, unit: 1))])
    }

    private mutating func writeWork() {
        let (tally, loops) = (snapshot.tally, snapshot.loops)
        text.write(.state, WorkerState.allCases.map { MetricSample([$0.rawValue], flag: $0 == snapshot.state) })
        text.write(
            .stageSeconds,
            WorkStage.allCases.map { MetricSample([$0.name], real: Double(snapshot.stages[$0]) / 1e9) }
        )
        text.write(.signatures, snapshot.signatures.map { MetricSample([$0.curve, $0.engine], whole: $0.count) })
        text.write(
            .disagreements,
            [
                MetricSample(["P-256"], whole: snapshot.disagreements.p256),
                MetricSample(["P-384"], whole: snapshot.disagreements.p384),
            ]
        )
        text.write(.commits, [MetricSample(whole: tally.batches)])
        text.write(
            .aborts,
            AbortCause.allCases.map { MetricSample([$0.rawValue], whole: tally.abortCauses[$0] ?? 0) }
        )
        text.write(
            .rebalances,
            Rebalance.allCases.map { MetricSample([$0.rawValue], whole: tally.rebalances[$0] ?? 0) }
        )
        text.write(
            .lost,
            [
                MetricSample(["retention"], whole: tally.deletedAtMost),
                MetricSample(["moved_offset"], whole: tally.skippedAtMost - tally.deletedAtMost),
            ]
        )
        if let lanes = snapshot.lanes { text.write(.lanes, [MetricSample(whole: lanes)]) }
        guard !loops.isEmpty else { return }
        text.write(.inFlight, [MetricSample(whole: loops.reduce(0) { $0 + $1.batchesInFlight })])
        text.write(.breakerOpen, [MetricSample(flag: loops.contains(where: \.isBreakerOpen))])
        if let offset = loops.compactMap(\.clockOffset).min() {
            text.write(.clockOffset, [MetricSample(real: Double(offset) / 1000)])
        }
    }

    private mutating func writePartitions() {
        guard !snapshot.loops.isEmpty else { return }
        let partitions = snapshot.partitions
        let labels = partitions.map { String($0.number) }
        func samples(_ value: (LoopSnapshot.Partition) -> MetricSample.Value?) -> [MetricSample] {
            zip(partitions, labels).compactMap { part in value(part.0).map { MetricSample([part.1], $0) } }
        }
        text.write(.assigned, [MetricSample(whole: partitions.count)])
        text.write(.quarantined, [MetricSample(whole: partitions.count { $0.hold != nil })])
        text.write(.lag, samples { snapshot.lag($0.number).map { .whole($0) } })
        text.write(.unstable, samples { snapshot.brokers.ends[$0.number].map { .whole($0.unstable) } })
        text.write(.committed, samples { snapshot.committed($0.number).map { .whole($0) } })
        text.write(.streamTime, samples { $0.streamTime.map { .real(Double($0) / 1000) } })
        text.write(.ledgerKeys, samples { .whole(Int64($0.keys)) })
        text.write(
            .consumedIDs,
            zip(partitions, labels).flatMap { partition, label in
                [
                    MetricSample([label, "challenge"], whole: partition.challenges),
                    MetricSample([label, "token"], whole: partition.tokens),
                ]
            }
        )
        let remaining = snapshot.members.reduce(into: [:]) { $0.merge($1.restoring) { $1 } }
        text.write(.restoreRemaining, samples { .whole(remaining[$0.number] ?? 0) })
    }

    private mutating func writeBrokers() {
        text.write(snapshot.brokers)
        let errors = snapshot.members.reduce(into: [String: Int]()) { $0.merge($1.errors, uniquingKeysWith: +) }
        text.write(.brokerErrors, errors.sorted { $0.key < $1.key }.map { MetricSample([$0.key], whole: $0.value) })
    }
}

extension WorkStage {
    /// The stage's name in the pages.
    fileprivate var name: String {
        switch self {
        case .decoding: "decode"
        case .resolving: "resolve"
        case .verifying: "verify"
        case .admitting: "admit"
        case .encoding: "encode"
        }
    }
}
