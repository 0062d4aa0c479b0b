/// Families that are declared where their series are made: of one series without labels, or of one for each part; nil is not
/// written.
extension Exposition {
    mutating func counter(_ series: String, _ help: String, _ value: () -> MetricSample.Value?) {
        write(.counter(series, help), value().map { [MetricSample([], $0)] } ?? [])
    }

    mutating func gauge(_ series: String, _ help: String, _ value: () -> MetricSample.Value?) {
        write(.gauge(series, help), value().map { [MetricSample([], $0)] } ?? [])
    }

    mutating func histogram(_ series: String, _ help: String, _ value: () -> MetricSample.Value) {
        write(.histogram(series, help), [MetricSample([], value())])
    }

    mutating func counter<Part>(_ series: String, _ help: String, _ parts: [Part], _ sample: (Part) -> MetricSample?) {
        write(.counter(series, help), parts.compactMap(sample))
    }

    mutating func gauge<Part>(_ series: String, _ help: String, _ parts: [Part], _ sample: (Part) -> MetricSample?) {
        write(.gauge(series, help), parts.compactMap(sample))
    }
}

/// The families that each program has.
extension Exposition {
    /// - Parameters:
    ///   - versions: of the program, librdkafka and OpenSSL, and the engine's name.
    ///   - reloadedAt: milliseconds since 1970.
    mutating func write(versions: [String], isReloaded: Bool, reloadedAt: Int64) {
        gauge("attest_build_info{version,librdkafka,openssl,engine}", "1; the labels name what runs.", [versions]) {
            MetricSample($0, whole: 1)
        }
        gauge(
            "attest_config_last_reload_successful",
            "1 if the configuration's last load or reload succeeded."
        ) { .flag(isReloaded) }
        gauge(
            "attest_config_last_reload_success_timestamp_seconds",
            "When the configuration in use was loaded."
        ) { .seconds(reloadedAt) }
    }

    mutating func write(_ state: WorkerState) {
        gauge(
            "attest_state{state}",
            "1 for the worker's present state: of several loops the least advanced one's.",
            WorkerState.allCases
        ) { MetricSample([$0.rawValue], flag: $0 == state) }
    }

    mutating func write(_ figures: BrokerFigures) {
        let brokers = figures.brokers.sorted { $0.key < $1.key }
        gauge("attest_broker_up{broker}", "1 while a connection to the broker stands.", brokers) {
            MetricSample([$0.key], flag: $0.value.isUp)
        }
    }

    mutating func write(_ process: ProcessFigures) {
        gauge("process_resident_memory_bytes", "Resident memory.") { .count(process.residentBytes) }
        gauge(
            "attest_memory_limit_bytes",
            "Memory that the control groups of the process allow; absent where they set no limit."
        ) { process.memoryLimit.map { .count($0) } }
        counter("process_cpu_seconds", "Processor time of all threads.") { .real(process.processorSeconds) }
        gauge("process_start_time_seconds", "When the process started.") { .real(process.startTime) }
        gauge("process_open_fds", "Open file descriptors.") { .count(process.openFiles) }
        gauge(
            "attest_kafka_abandoned_clients",
            "Clients of the brokers that did not end within 5 s: each keeps its threads and memory."
        ) { .count(process.abandonedClients) }
        counter(
            "attest_broker_throttle_seconds{broker}",
            "Time by which the broker held back answers, since a client of the process had exceeded a quota.",
            process.throttles.sorted { $0.key < $1.key }
        ) { MetricSample([$0.key], real: Double($0.value) / 1000) }
    }
}
