/// The work of the loops, and the content of their partitions.
extension MetricFamily {
    package static let state = gauge(
        "attest_state",
        ["state"],
        "1 for the worker's present state: of several loops the least advanced one's."
    )
    static let stageSeconds = counter(
        "attest_stage_seconds",
        ["stage"],
        "Processor time of the stages, aborted batches included."
    )
    static let signatures = counter("attest_signatures", ["curve", "engine"], "Signatures verified.")
    static let disagreements = counter(
        "attest_engine_disagreements",
        ["curve"],
        "Answers of the signature engine that were not OpenSSL's."
    )
    static let commits = counter("attest_commits", [], "Batches committed.")
    static let aborts = counter("attest_aborts", ["cause"], "Times that a loop dropped what it had in flight.")
    static let lag = gauge(
        "attest_consumer_lag_records",
        ["partition"],
        "Offsets between the position and the high watermark; markers behind the last answered request are not counted."
    )
    static let unstable = gauge(
        "attest_partition_unstable_records",
        ["partition"],
        "Offsets between the last stable one and the high watermark: what an open transaction of a producer holds back."
    )
    static let committed = gauge(
        "attest_partition_committed_offset",
        ["partition"],
        "The next request to answer."
    )
    static let streamTime = gauge(
        "attest_partition_stream_timestamp_seconds",
        ["partition"],
        "The latest timestamp of the partition's requests."
    )
    static let assigned = gauge("attest_assigned_partitions", [], "Partitions that the group has given this process.")
    static let rebalances = counter("attest_rebalances", ["kind"], "Changes of the assignment.")
    static let ledgerKeys = gauge("attest_ledger_keys", ["partition"], "Keys in the ledger.")
    static let consumedIDs = gauge(
        "attest_ledger_consumed_ids",
        ["partition", "kind"],
        "Used challenges and tokens that are remembered until they expire."
    )
    static let restoreRemaining = gauge(
        "attest_ledger_restore_remaining_records",
        ["partition"],
        "Offsets of the ledger topic that a restore has left to read."
    )
    static let inFlight = gauge("attest_batches_in_flight", [], "Batches between poll and commit.")
    static let lanes = gauge("attest_lanes", [], "Lanes that verify in parallel.")
    static let breakerOpen = gauge(
        "attest_breaker_open",
        [],
        "1 while no requests are taken because too many met a bug of the worker."
    )
    static let quarantined = gauge(
        "attest_partitions_quarantined",
        [],
        "Assigned partitions that are not read until an operator acts."
    )
    static let lost = counter(
        "attest_records_lost",
        ["cause"],
        "Requests that were never read, at most: deleted by retention, or skipped by a moved offset."
    )
    static let clockOffset = gauge(
        "attest_clock_offset_seconds",
        [],
        "Wall clock minus the brokers' time of what was read and written, the smallest of a minute or two; beyond 60 s ahead "
            + "not ready."
    )
    static let brokerUp = gauge("attest_broker_up", ["broker"], "1 while a connection to the broker stands.")
    static let brokerErrors = counter(
        "attest_broker_errors",
        ["code"],
        "Errors that the consumers' client reported, by librdkafka's names."
    )

    static let ofLoops = [
        state, stageSeconds, signatures, disagreements, commits, aborts, lag, unstable, committed, streamTime,
        assigned, rebalances, ledgerKeys, consumedIDs, restoreRemaining, inFlight, lanes, breakerOpen, quarantined,
        lost, clockOffset,
        brokerUp,
        brokerErrors,
    ]
}
