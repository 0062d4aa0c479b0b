internal import Broker
internal import Foundation
package import Kafka
internal import KafkaPorts
internal import Streams
internal import Threads

/// Sends a run's requests from a thread of its own, whatever becomes of the brokers meanwhile.
package final class ChaosProducer: Sendable {
    package struct Status: Sendable {
        package var acknowledged = 0
        /// Not acknowledged: the topic may or may not have them, and the checker takes what it has.
        package var uncertain = 0
        /// How often the producer had to be replaced.
        package var renewals = 0
        package var isDone = false
        package var mustStop = false
        /// How many requests may be sent by now.
        package var allowed: Int
        /// When the last request was acknowledged.
        package var end: ContinuousClock.Instant?
        package var fault: String?
        /// Acknowledged to producers that have been closed.
        fileprivate var before = 0
    }

    private let state: Locked<Status>
    private let properties: KafkaProperties
    private let topic: String
    private let partitions: Int32

    /// - Parameter allowed: how many requests may be sent before ``allow(_:)`` says more.
    package init(_ properties: KafkaProperties, topic: String, partitions: Int32, allowed: Int = .max) {
        var properties = properties
        properties["message.timeout.ms"] = "600000"
        (self.properties, self.topic, self.partitions) = (properties, topic, partitions)
        state = Locked(Status(allowed: allowed))
    }

    package var status: Status { state.withLock { $0 } }

    /// Lets so many requests be sent in all.
    package func allow(_ count: Int) { state.withLock { $0.allowed = max($0.allowed, count) } }

    package func stop() { state.withLock { $0.mustStop = true } }

    /// - Parameter makeTraffic: makes the requests; called once, on the thread that then uses it.
    package func start(_ makeTraffic: @escaping @Sendable () throws -> ChaosTraffic) {
        let thread = Thread { [self] in
            do { try run(makeTraffic()) } catch { state.withLock { $0.fault = "\(error)" } }
            state.withLock { status in
                status.end = .now
                status.isDone = true
            }
        }
        thread.stackSize = 4 << 20
        thread.start()
    }

    private func run(_ traffic: ChaosTraffic) throws {
        var producer = try Producer(properties)
        var sent = 0
        while !status.mustStop, !traffic.isDone {
            let limit = min(ChaosTraffic.chunk, status.allowed - sent)
            guard limit > 0 else {
                producer.poll(timeoutMilliseconds: 20)
                count(producer)
                continue
            }
            let requests = traffic.take(limit, clock: Int64(Date().timeIntervalSince1970 * 1000))
            for request in requests {
                try send(request, sent, &producer)
                sent += 1
            }
            count(producer)
        }
        finish(producer)
        retire(producer)
    }

    /// Flushes for 600 s at most, and not on a fatal fault; the checker sees what of the rest the topic has.
    private func finish(_ producer: Producer) {
        let deadline = ContinuousClock.now + .seconds(600)
        while producer.outstanding > 0, producer.fatalFault == nil, !status.mustStop, ContinuousClock.now < deadline {
            try? producer.flush(timeoutMilliseconds: 500)
        }
    }

    private func send(_ request: PublishRecord, _ index: Int, _ producer: inout Producer) throws {
        let partition = request.key.map { Partitioner.murmur2.partition(of: $0, count: partitions) }
        while !status.mustStop {
            do {
                return try producer.produce(
                    topic: topic,
                    // Requests without a key go to each partition in turn.
                    partition: partition ?? Int32(index % Int(partitions)),
                    key: request.key,
                    value: request.value,
                    headers: request.headers
                )
            } catch {
                if producer.fatalFault != nil {
                    retire(producer)
                    producer = try Producer(properties)
                    state.withLock { $0.renewals += 1 }
                } else if !error.isRetriable {
                    throw error
                }
                usleep(100_000)
            }
        }
    }

    private func count(_ producer: Producer) {
        let acknowledged = producer.summary.acknowledged
        state.withLock { $0.acknowledged = $0.before + acknowledged }
    }

    private func retire(_ producer: Producer) {
        let deliveries = producer.summary
        let uncertain = deliveries.failed + deliveries.withoutOffset + producer.outstanding
        state.withLock { status in
            status.before += deliveries.acknowledged
            status.acknowledged = status.before
            status.uncertain += uncertain
        }
    }
}
