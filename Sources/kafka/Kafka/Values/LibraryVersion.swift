internal import CRdkafka

/// A version of librdkafka, and what is particular about it: the one place that decides which faults of the library a
/// process has to go around. The page Decisions lists the others, which all versions up to 2.15.0 have.
package struct LibraryVersion: Sendable {
    /// The version in this process.
    package static let current = LibraryVersion(number: Int(rd_kafka_version()))

    /// The version as people write it: `2.0.2`.
    package static var text: String {
        // A static text of the library.
        unsafe rd_kafka_version_str().map { unsafe String(cString: $0) } ?? ""
    }

    /// The version in the library's notation: 0x020002ff is 2.0.2.
    private let number: Int

    private init(number: Int) { self.number = number }

    init(_ major: Int, _ minor: Int, _ patch: Int) {
        self.init(number: major << 24 | minor << 16 | patch << 8 | 0xFF)
    }

    private func isBefore(_ major: Int, _ minor: Int, _ patch: Int) -> Bool {
        number < LibraryVersion(major, minor, patch).number
    }
}

// MARK: - What differs

extension LibraryVersion {
    /// A seek before 2.1.0 (#4230) takes its milliseconds for microseconds.
    var seekUnitsPerMillisecond: Int { isBefore(2, 1, 0) ? 1_000 : 1 }

    /// Whether a seek wakes the leader's thread, which may sleep for a second. From 2.1.0 (#4122) to 2.10.0 (#4970) it
    /// does so only at offset 0.
    var seekWakesLeader: Bool { isBefore(2, 1, 0) || !isBefore(2, 10, 0) }

    /// Whether `fetch.queue.backoff.ms` exists (#2879). Without it a client looks only once a second whether a full queue
    /// has room again.
    var hasFetchBackoff: Bool { !isBefore(2, 2, 0) }

    /// Whether a client's first record of a topic waits a second for its leader: before 2.10.1 (#5032), but not in 2.0.2,
    /// which remembers all of an answer about topics.
    var looksLateForLeaders: Bool { !isBefore(2, 1, 0) && isBefore(2, 10, 1) }

    /// Whether a client that cannot be made leaves a configuration with interceptors half freed: before 2.13.0 (#5240).
    var leavesInterceptorsFreed: Bool { isBefore(2, 13, 0) }

    /// Whether SCRAM works with Kafka 4: before 2.6.1 (#4895) the last message repeats a nonce, which Kafka 4 refuses.
    package var scramSuitsKafka4: Bool { !isBefore(2, 6, 1) }

    /// Settings of every client under the operator's own.
    var defaults: [(String, String)] {
        // From 2.5.0 the library sends a broker the figures that it asks for. Up to 2.10.1 (#4912, #5105) what it asks
        // for is read beyond its end, and may cut the connection each time.
        let sendsMetricsWrongly = !isBefore(2, 5, 0) && isBefore(2, 10, 1)
        return sendsMetricsWrongly ? [("enable.metrics.push", "false")] : []
    }
}
