internal import CRdkafka

/// A partition's oldest offset and the one after its newest record that the asking client may see.
package struct Watermarks: Sendable, Equatable {
    package var low: Int64
    package var high: Int64

    package init(low: Int64, high: Int64) {
        self.low = low
        self.high = high
    }
}

extension ClientHandle {
    /// Asks the partition's leader. Any client but one with `isolation.level=read_uncommitted`, producers included, is
    /// told a high watermark that ends before open transactions. After a fault that may pass it asks the broker anew who
    /// leads, and then once more, so it may take its time thrice.
    func watermarks(
        of topic: String,
        _ partition: Int32,
        timeoutMilliseconds: Int
    ) throws(KafkaFault) -> Watermarks {
        do throws(KafkaFault) { return try ask(topic, partition, timeoutMilliseconds) } catch {
            guard error.isMissingTopic || error.isRetriable else { throw error }
            // A broker that had just started, or one that led the partition before. The library goes on believing in it
            // for minutes, unless it is made to ask anew.
            guard !error.isTimeout else {
                // For the next question: this one has had its time.
                _ = try? topics(timeoutMilliseconds: min(timeoutMilliseconds, Self.graceMilliseconds))
                throw error
            }
            _ = try topics(timeoutMilliseconds: timeoutMilliseconds)
            return try ask(topic, partition, timeoutMilliseconds)
        }
    }

    private func ask(
        _ topic: String,
        _ partition: Int32,
        _ timeoutMilliseconds: Int
    ) throws(KafkaFault) -> Watermarks {
        let answer = WatermarkAnswer()
        let action = "asking for the ends of \(topic), partition \(partition)"
        let bound = max(0, timeoutMilliseconds) + Self.graceMilliseconds
        do throws(KafkaFault) {
            // 2.0.2 asks a leader that is gone for as long as it is away. The client lives until the call has returned.
            _ = try unsafe BoundedCall.run(action, timeoutMilliseconds: bound) {
                answer.ask(self, topic, partition, clampedMilliseconds(timeoutMilliseconds))
                return nil
            }
        } catch { throw explained(error.judged(isFatal: false, requiresAbort: false)) }
        guard answer.code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            serve()
            throw explained(KafkaFault(answer.code, doing: action))
        }
        return Watermarks(low: answer.low, high: answer.high)
    }

    private static let graceMilliseconds = 1_000
}

/// What one call brings: written by its thread before it ends, read after that.
private final class WatermarkAnswer {
    private(set) var low: Int64 = 0
    private(set) var high: Int64 = 0
    private(set) var code = RD_KAFKA_RESP_ERR_NO_ERROR

    func ask(_ client: ClientHandle, _ topic: String, _ partition: Int32, _ timeout: Int32) {
        // Both are written before the call returns.
        unsafe code = rd_kafka_query_watermark_offsets(client.pointer, topic, partition, &low, &high, timeout)
    }
}
