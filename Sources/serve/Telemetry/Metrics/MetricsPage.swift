internal import KafkaPorts
internal import Member
internal import Pipeline
internal import Streams

/// A worker's snapshot as a scrape.
struct MetricsPage {
    private let snapshot: WorkerSnapshot
    private var text: Exposition

    static func write(_ snapshot: WorkerSnapshot, _ format: Exposition.Format) -> [UInt8] {
        MetricsPage(snapshot, format).text.finish()
    }

    fileprivate static var families: [MetricFamily] { MetricsPage(WorkerSnapshot(), .text).text.families }

    private init(_ snapshot: WorkerSnapshot, _ format: Exposition.Format) {
        (self.snapshot, text) = (snapshot, Exposition(format))
        writeProcess()
        writeRequests()
        writeWork()
        writeLosses()
        writeLoops()
        writePartitions()
        writeRestores()
        writeBrokers()
    }

    private mutating func writeProcess() {
        let build = snapshot.build
        text.write(
            versions: [build.version, build.librdkafka, build.openSSL, build.engine],
            isReloaded: snapshot.isReloaded,
            reloadedAt: snapshot.reloadedAt
        )
        text.gauge(
            "attest_signing_key_published_timestamp_seconds{kid,algorithm,state}",
            "When the signing key's file was last written, or `published` in worker.json: it was not published before.",
            snapshot.signingKeys
        ) { key in key.published.map { MetricSample([key.kid, key.algorithm, key.state], .seconds($0)) } }
        text.gauge(
            "attest_signing_key_away{kid,algorithm,state}",
            "1 while a signing key inside a token does not sign: exchanges that need it are deferred.",
            snapshot.signingKeys
        ) { key in key.isAway.map { MetricSample([key.kid, key.algorithm, key.state], flag: $0) } }
        text.gauge(
            "attest_trust_anchor_expiry_timestamp_seconds{list,subject,fingerprint}",
            "When a configured root certificate expires.",
            snapshot.anchors
        ) { MetricSample([$0.list, $0.subject, $0.fingerprint], whole: $0.expires) }
        text.write(snapshot.process)
    }

    private mutating func writeRequests() {
        let tally = snapshot.tally
        let answers = AnswerSamples(tally.answers, apps: snapshot.apps)
        for (family, samples) in answers.all { text.write(family, samples) }
        text.counter(
            "attest_keys_expired{app}",
            "Keys that were forgotten because they were not used for keys.expireAfter.",
            tally.endedKeys.sorted { $0.key < $1.key }
        ) { MetricSample([AnswerSamples.label(ofAppNamed: $0.key)], whole: $0.value) }
        let risk = "Apple's risk metrics of accepted verifyReceipt requests, those of duplicates left out."
        text.write(.histogram("attest_risk_metric{app}", risk), answers.riskMetrics)
        text.histogram(
            "attest_answer_age_seconds",
            "Time from a request's timestamp to the commit of its result; a negative one counts as 0."
        ) { .histogram(tally.answerAge, unit: 0.001) }
        text.histogram(
            "attest_commit_duration_seconds",
            "Time from the hand-over of a batch's outputs to the end of its commit."
        ) { .histogram(tally.commitDuration, unit: 0.001) }
        text.histogram("attest_batch_records", "Requests of a committed batch.") {
            .histogram(tally.batchRecords, unit: 1)
        }
    }

    private mutating func writeWork() {
        text.write(snapshot.state)
        let (stages, disagreements, batches) = (snapshot.stages, snapshot.disagreements, snapshot.tally.batches)
        text.counter(
            "attest_stage_seconds{stage}",
            "Processor time of the stages, aborted batches included.",
            WorkStage.allCases
        ) { MetricSample([$0.name], real: Double(stages[$0]) / 1e9) }
        text.counter("attest_signatures{curve,engine}", "Signatures verified.", snapshot.signatures) {
            MetricSample([$0.curve, $0.engine], whole: $0.count)
        }
        text.counter(
            "attest_engine_disagreements{curve}",
            "Answers of the signature engine that were not OpenSSL's.",
            [("P-256", disagreements.p256), ("P-384", disagreements.p384)]
        ) { MetricSample([$0.0], whole: $0.1) }
        text.counter("attest_commits", "Batches committed.") { .count(batches) }
    }

    private mutating func writeLosses() {
        let tally = snapshot.tally
        let causes = AbortCause.allCases
        text.counter("attest_aborts{cause}", "Times that a loop dropped what it had in flight.", causes) {
            MetricSample([$0.rawValue], whole: tally.abortCauses[$0] ?? 0)
        }
        text.counter("attest_rebalances{kind}", "Changes of the assignment.", Rebalance.allCases) {
            MetricSample([$0.rawValue], whole: tally.rebalances[$0] ?? 0)
        }
        text.counter(
            "attest_records_lost{cause}",
            "Requests that were never read, at most: deleted by retention, or skipped by a moved offset.",
            [("retention", tally.deletedAtMost), ("moved_offset", tally.skippedAtMost - tally.deletedAtMost)]
        ) { MetricSample([$0.0], whole: $0.1) }
    }

    /// The families of the loops; without a loop nothing but the lanes is known.
    private mutating func writeLoops() {
        let (lanes, loops) = (snapshot.lanes, snapshot.loops)
        text.gauge("attest_lanes", "Lanes that verify in parallel.") { lanes.map { .count($0) } }
        text.gauge("attest_batches_in_flight", "Batches between poll and commit.") {
            loops.isEmpty ? nil : .count(loops.reduce(0) { $0 + $1.batchesInFlight })
        }
        text.gauge(
            "attest_breaker_open",
            "1 while no requests are taken because too many met a bug of the worker."
        ) { loops.isEmpty ? nil : .flag(loops.contains(where: \.isBreakerOpen)) }
        text.gauge(
            "attest_clock_offset_seconds",
            "Wall clock minus the brokers' time of what was read and written, the smallest of a minute or two; beyond 60 s ahead "
                + "not ready."
        ) { loops.compactMap(\.clockOffset).min().map { .seconds($0) } }
    }

    private mutating func writePartitions() {
        let (snapshot, isKnown, partitions) = (snapshot, !snapshot.loops.isEmpty, snapshot.partitions)
        text.gauge("attest_assigned_partitions", "Partitions that the group has given this process.") {
            isKnown ? .count(partitions.count) : nil
        }
        text.gauge(
            "attest_partitions_quarantined",
            "Assigned partitions that are not read until an operator acts."
        ) { isKnown ? .count(partitions.count { $0.hold != nil }) : nil }
        gauge(
            "attest_consumer_lag_records{partition}",
            "Offsets between the position and the high watermark; markers behind the last answered request are not counted."
        ) { snapshot.lag($0.number).map { .whole($0) } }
        gauge(
            "attest_partition_unstable_records{partition}",
            "Offsets between the last stable one and the high watermark: what an open transaction of a producer holds back."
        ) { snapshot.brokers.ends[$0.number].map { .whole($0.unstable) } }
        gauge("attest_partition_committed_offset{partition}", "The next request to answer.") {
            snapshot.committed($0.number).map { .whole($0) }
        }
        gauge(
            "attest_partition_stream_timestamp_seconds{partition}",
            "The latest timestamp of the partition's requests."
        ) { $0.streamTime.map { .seconds($0) } }
        gauge("attest_ledger_keys{partition}", "Keys in the ledger.") { .count($0.keys) }
        gauge(
            "attest_ledger_expired_keys{partition}",
            "Keys that had ended (keys.expireAfter) and were left in memory when the ledger was last looked through."
        ) { .count($0.endedKeys) }
        gauge("attest_ledger_odd_keys{partition}", "Keys whose record takes four times the usual memory.") {
            .count($0.oddKeys)
        }
        let used = partitions.flatMap { part -> [(Int32, String, Int)] in
            [(part.number, "challenge", part.challenges), (part.number, "token", part.tokens)]
        }
        text.gauge(
            "attest_ledger_consumed_ids{partition,kind}",
            "Used challenges and tokens that are remembered until they expire.",
            used
        ) { MetricSample([String($0.0), $0.1], whole: $0.2) }
        let remaining = snapshot.members.reduce(into: [:]) { $0.merge($1.restoring) { $1 } }
        gauge(
            "attest_ledger_restore_remaining_records{partition}",
            "Offsets of the ledger topic that a restore has left to read."
        ) { .whole(remaining[$0.number] ?? 0) }
    }

    private mutating func writeRestores() {
        let restores = snapshot.members.reduce(into: [:]) { $0.merge($1.restores, uniquingKeysWith: +) }
        text.counter(
            "attest_ledger_restores{source}",
            "Ledgers that were restored, by where they came from.",
            LedgerSource.allCases
        ) { MetricSample([$0.rawValue], whole: restores[$0] ?? 0) }
        let standby = snapshot.standby.sorted { $0.key < $1.key }
        text.gauge(
            "attest_standby_lag_records{partition}",
            "Offsets left to read of a ledger that is followed for another worker.",
            standby
        ) { MetricSample([String($0.key)], whole: $0.value) }
        let copies = snapshot.copies.sorted { $0.key < $1.key }
        text.gauge(
            "attest_ledger_snapshot_timestamp_seconds{partition}",
            "When the partition's copy on the disk was made.",
            copies
        ) { MetricSample([String($0.key)], .seconds($0.value.takenAt)) }
        text.gauge("attest_ledger_snapshot_bytes{partition}", "Size of the partition's copy on the disk.", copies) {
            MetricSample([String($0.key)], whole: $0.value.bytes)
        }
    }

    /// Writes a gauge with a series for each partition of which the value is known.
    private mutating func gauge(
        _ series: String,
        _ help: String,
        _ value: (LoopSnapshot.Partition) -> MetricSample.Value?
    ) {
        text.gauge(series, help, snapshot.partitions) { partition in
            value(partition).map { MetricSample([String(partition.number)], $0) }
        }
    }

    private mutating func writeBrokers() {
        text.write(snapshot.brokers)
        let errors = snapshot.members.reduce(into: [String: Int]()) { $0.merge($1.errors, uniquingKeysWith: +) }
        text.counter(
            "attest_broker_errors{code}",
            "Errors that the consumers' client reported, by librdkafka's names.",
            errors.sorted { $0.key < $1.key }
        ) { MetricSample([$0.key], whole: $0.value) }
    }
}

extension MetricFamily {
    /// All families of a worker, in the order of a scrape.
    package static let all = MetricsPage.families
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
