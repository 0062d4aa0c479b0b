internal import CRdkafka
internal import KafkaPorts

extension ClientHandle {
    /// Asks the partitions' leaders, all of them together. Any client without `isolation.level=read_uncommitted`,
    /// producers included, gets a high watermark that ends before open transactions.
    ///
    /// After a fault that may pass it asks the broker for the leaders again, and then once more for the offsets: the
    /// library would keep asking a former leader for minutes. Each of these five calls keeps the time-out.
    func watermarks(
        of topic: String,
        _ partitions: [Int32],
        timeoutMilliseconds: Int
    ) throws(KafkaFault) -> [Int32: Watermarks] {
        guard !partitions.isEmpty else { return [:] }
        do throws(KafkaFault) { return try ask(topic, partitions, timeoutMilliseconds) } catch {
            guard error.isMissingTopic || error.isRetriable else { throw error }
            guard !error.isTimeout else {
                // Helps the next question: the time of this one is up.
                _ = try? topics(timeoutMilliseconds: min(timeoutMilliseconds, Self.refreshMilliseconds))
                throw error
            }
            _ = try topics(timeoutMilliseconds: timeoutMilliseconds)
            return try ask(topic, partitions, timeoutMilliseconds)
        }
    }

    func watermarks(
        of topic: String,
        _ partition: Int32,
        timeoutMilliseconds: Int
    ) throws(KafkaFault) -> Watermarks {
        let found = try watermarks(of: topic, [partition], timeoutMilliseconds: timeoutMilliseconds)
        guard let watermarks = found[partition] else { throw Self.unanswered(topic, partition) }
        return watermarks
    }

    /// Makes the threads of the partitions' leaders look whether there is something to fetch. Waits for their answer, at
    /// most that long; what it says does not matter.
    func wakeLeaders(of topic: String, _ partitions: [Int32], timeoutMilliseconds: Int) {
        _ = try? offsets(topic, partitions, Int64(RD_KAFKA_OFFSET_END), timeoutMilliseconds)
    }

    private func ask(
        _ topic: String,
        _ partitions: [Int32],
        _ timeoutMilliseconds: Int
    ) throws(KafkaFault) -> [Int32: Watermarks] {
        // A beginning that moves between the two calls does no harm: the end is asked for last.
        let lows = try offsets(topic, partitions, Int64(RD_KAFKA_OFFSET_BEGINNING), timeoutMilliseconds)
        let highs = try offsets(topic, partitions, Int64(RD_KAFKA_OFFSET_END), timeoutMilliseconds)
        var found: [Int32: Watermarks] = [:]
        for partition in partitions {
            guard let low = lows[partition], let high = highs[partition] else {
                throw Self.unanswered(topic, partition)
            }
            found[partition] = Watermarks(low: low, high: high)
        }
        return found
    }

    /// Queries the offset at a time: this keeps its time-out, while `rd_kafka_query_watermark_offsets` waits for as
    /// long as a leader is absent. The broker takes −2 and −1 for the times of the beginning and the end.
    private func offsets(
        _ topic: String,
        _ partitions: [Int32],
        _ time: Int64,
        _ timeoutMilliseconds: Int
    ) throws(KafkaFault) -> [Int32: Int64] {
        let action = "asking for the ends of \(topic)"
        let list = TopicPartitionList(
            topic: topic,
            offsets: partitions.map { PartitionOffset(partition: $0, offset: time) }
        )
        let timeout = clampedMilliseconds(timeoutMilliseconds)
        // The library fills the list in and does not keep it.
        let code = unsafe list.withPointer { unsafe rd_kafka_offsets_for_times(pointer, $0, timeout) }
        if code != RD_KAFKA_RESP_ERR_NO_ERROR {
            serve()
            throw explained(KafkaFault(code, doing: action))
        }
        if let fault = list.firstFault(action) {
            serve()
            throw explained(fault)
        }
        let answers = list.offsets()
        precondition(
            Set(answers.map(\.partition)) == Set(partitions),
            "an answer is about the partitions that were asked for"
        )
        let known = answers.filter { $0.offset >= 0 }
        return Dictionary(known.map { ($0.partition, $0.offset) }, uniquingKeysWith: { $1 })
    }

    private static func unanswered(_ topic: String, _ partition: Int32) -> KafkaFault {
        .timedOut("asking for the ends of \(topic), partition \(partition): the broker gave no answer about it")
    }

    private static let refreshMilliseconds = 1_000
}
