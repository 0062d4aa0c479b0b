internal import Kafka
internal import Pipeline

/// At least once: outputs are acknowledged by all replicas first, then the offsets are committed.
///
/// A crash in between, or an abort, leaves outputs behind that are written again. The ledger is not written.
final class AtLeastOnceUnit: OutputUnit {
    private let settings: BrokerSettings
    private var producer: Producer

    init(_ settings: BrokerSettings) throws(KafkaFault) {
        self.settings = settings
        producer = try Producer(settings.producerProperties())
    }

    func begin() throws {}

    func append(_ records: [OutboundRecord]) throws {
        for record in records where record.stream != .ledger {
            guard let topic = settings.topics.outputs[record.stream] else {
                throw KafkaFault.fatal("no topic is named for \(record.stream.rawValue)")
            }
            do {
                try producer.produce(
                    topic: topic,
                    partition: record.partition,
                    key: record.key,
                    value: record.value,
                    headers: record.headers.map { KafkaHeader(name: $0.name, value: $0.value) },
                    patienceMilliseconds: settings.commitMilliseconds
                )
            } catch {
                throw mendable(error)
            }
        }
    }

    func commit(_ positions: [PartitionPosition], of consumer: Consumer) throws {
        do {
            try producer.flush(timeoutMilliseconds: settings.commitMilliseconds)
        } catch {
            throw mendable(error)
        }
        let offsets = positions.map { PartitionOffset(partition: $0.partition, offset: $0.offset) }
        try consumer.commit(offsets, timeoutMilliseconds: settings.commitMilliseconds)
    }

    /// Outputs under way get a moment to end in order; a producer that cannot end them is replaced.
    func abort() throws {
        // A delivery that failed is no news: its unit is the one being given up.
        try? producer.flush(timeoutMilliseconds: settings.abortMilliseconds)
        if producer.outstanding > 0 || producer.fatalFault != nil {
            producer = try Producer(settings.producerProperties())
        }
    }

    func close() {
        // What was committed has been flushed; the rest is nobody's.
        try? producer.flush(timeoutMilliseconds: settings.abortMilliseconds)
    }

    /// A broken producer is replaced by ``abort()``; what the broker refuses for good stays refused.
    private func mendable(_ fault: KafkaFault) -> KafkaFault {
        let mends = (fault.isRetriable || producer.fatalFault != nil) && !fault.isRefusal
        return fault.judged(isFatal: !mends, requiresAbort: mends)
    }
}
