internal import CRdkafka
internal import Glibc
package import KafkaPorts

/// librdkafka's broker for tests and demonstrations, inside this process, on loopback ports.
///
/// It cannot test transactions: offsets sent in one are dropped and aborted records stay visible. A partition keeps
/// only its newest 5 MiB. Clients work best with `fetch.wait.max.ms=10` and `session.timeout.ms=3500`: a group's first
/// join takes 3 s, in which a member with a shorter session is dropped, and later rebalances wait for a session less 1
/// s. Keep the object for as long as clients need the brokers: they end with its last reference.
@safe
package final class MockCluster {
    private let host: ClientHandle
    private let pointer: OpaquePointer

    /// Starts brokers with the ids 1 to `brokers`.
    package init(brokers: Int = 1) throws(KafkaFault) {
        // Without this the mock's sockets wait 40 ms for each acknowledgement.
        let properties = KafkaProperties([("socket.nagle.disable", "true"), ("log_level", "0")])
        let host = try ClientHandle(.producer, properties, context: CallbackContext())
        // Owned by this object; it lives on the host client, which is destroyed after it.
        let started = unsafe SignalMask.all {
            unsafe rd_kafka_mock_cluster_new(host.pointer, Int32(clamping: brokers))
        }
        guard let started = unsafe started else {
            throw .invalid("a mock cluster of \(brokers) brokers could not be started")
        }
        self.host = host
        unsafe pointer = started
    }

    deinit {
        // Before the host client, which is a stored property and so released after this.
        unsafe rd_kafka_mock_cluster_destroy(pointer)
    }

    /// The value for `bootstrap.servers`.
    package var bootstrapServers: String {
        // The text belongs to the cluster and is copied here.
        unsafe String(cString: rd_kafka_mock_cluster_bootstraps(pointer))
    }

    package func createTopic(_ name: String, partitions: Int) throws(KafkaFault) {
        // The name is copied.
        let code = unsafe rd_kafka_mock_topic_create(pointer, name, Int32(clamping: partitions), 1)
        try KafkaFault.check(code, "creating mock topic \(name)")
    }

    /// Makes another broker lead a partition.
    package func setLeader(_ id: Int32, of topic: String, _ partition: Int32) throws(KafkaFault) {
        // The name is copied.
        let code = unsafe rd_kafka_mock_partition_set_leader(pointer, topic, partition, id)
        try KafkaFault.check(code, "making mock broker \(id) lead \(topic), partition \(partition)")
    }

    /// Delays a broker's answers, as a long distance would.
    package func setRoundTrip(_ id: Int32, milliseconds: Int32) throws(KafkaFault) {
        let code = unsafe rd_kafka_mock_broker_set_rtt(pointer, id, milliseconds)
        try KafkaFault.check(code, "delaying mock broker \(id)")
    }

    /// Answers the next requests of a kind (its number in Kafka's protocol) with these codes, one each, in order.
    package func failRequests(_ kind: Int16, with codes: [Int32]) {
        var errors = codes.map { rd_kafka_resp_err_t($0) }
        // The library copies the codes.
        unsafe rd_kafka_mock_push_request_errors_array(pointer, kind, errors.count, &errors)
    }

    /// Answers the requests of a kind as usual from now on.
    package func answerRequests(_ kind: Int16) { unsafe rd_kafka_mock_clear_request_errors(pointer, kind) }

    /// Takes a broker down (its connections break) or brings it back.
    package func setBroker(_ id: Int32, isUp: Bool) throws(KafkaFault) {
        let code =
            isUp
            ? unsafe rd_kafka_mock_broker_set_up(pointer, id)
            : unsafe rd_kafka_mock_broker_set_down(pointer, id)
        try KafkaFault.check(code, "taking mock broker \(id) \(isUp ? "up" : "down")")
    }
}

/// The signals that threads leave to others.
private enum SignalMask {
    /// Runs `body` with all signals blocked: threads that it starts never get one.
    ///
    /// The library blocks them for its clients' threads, but not for a mock cluster's: a signal's handler there ends the
    /// poll, and that ends the cluster, which its destruction does not expect.
    static func all<Result>(_ body: () -> Result) -> Result {
        var (every, before) = (sigset_t(), sigset_t())
        // The sets live on this stack, and no call keeps them.
        unsafe sigfillset(&every)
        unsafe pthread_sigmask(SIG_SETMASK, &every, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        return body()
    }
}
