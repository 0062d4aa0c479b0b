/// The process and its configuration.
extension MetricFamily {
    package static let buildInfo = gauge(
        "attest_build_info",
        ["version", "librdkafka", "openssl", "engine"],
        "1; the labels name what runs."
    )
    package static let reloadSuccessful = gauge(
        "attest_config_last_reload_successful",
        [],
        "1 if the configuration's last load or reload succeeded."
    )
    package static let reloadTime = gauge(
        "attest_config_last_reload_success_timestamp_seconds",
        [],
        "When the configuration in use was loaded."
    )
    static let signingKeyPublished = gauge(
        "attest_signing_key_published_timestamp_seconds",
        ["kid", "algorithm", "state"],
        "When the signing key's file was last written, or `published` in worker.json: it was not published before."
    )
    static let signingKeyAway = gauge(
        "attest_signing_key_away",
        ["kid", "algorithm", "state"],
        "1 while a signing key inside a token does not sign: exchanges that need it are deferred."
    )
    static let anchorExpiry = gauge(
        "attest_trust_anchor_expiry_timestamp_seconds",
        ["list", "subject", "fingerprint"],
        "When a configured root certificate expires."
    )
    static let residentMemory = gauge("process_resident_memory_bytes", [], "Resident memory.")
    static let memoryLimit = gauge(
        "attest_memory_limit_bytes",
        [],
        "Memory that the control groups of the process allow; absent where they set no limit."
    )
    static let processorSeconds = counter("process_cpu_seconds", [], "Processor time of all threads.")
    static let startTime = gauge("process_start_time_seconds", [], "When the process started.")
    static let openFiles = gauge("process_open_fds", [], "Open file descriptors.")

    static let abandonedClients = gauge(
        "attest_kafka_abandoned_clients",
        [],
        "Clients of the brokers that did not end within 5 s: each keeps its threads and memory."
    )

    static let brokerThrottle = counter(
        "attest_broker_throttle_seconds",
        ["broker"],
        "Time by which the broker held back answers, since a client of the process had exceeded a quota."
    )

    static let ofProcess = [
        buildInfo, reloadSuccessful, reloadTime, signingKeyPublished, signingKeyAway, anchorExpiry, residentMemory,
        memoryLimit, processorSeconds, startTime, openFiles, abandonedClients, brokerThrottle,
    ]

    /// All families, in the order of a scrape.
    package static let all = ofProcess + ofRequests + ofLoops
}
