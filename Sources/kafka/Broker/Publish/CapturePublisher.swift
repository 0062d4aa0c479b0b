internal import Kafka
package import KafkaPorts
internal import Pipeline
package import Streams

/// The outcome of the records published.
package struct PublishReport: Sendable, Equatable {
    package var acknowledged = 0
    package var failed = 0
    /// One line about the first failure, or about why publishing ended early.
    package var firstFailure: String?

    package init(acknowledged: Int = 0, failed: Int = 0, firstFailure: String? = nil) {
        (self.acknowledged, self.failed, self.firstFailure) = (acknowledged, failed, firstFailure)
    }

    /// All replicas acknowledged every record given.
    package var isComplete: Bool { failed == 0 && firstFailure == nil }
}

/// Writes records to the requests topic: idempotent, acknowledged by all replicas, riding out the loss of a broker.
package final class CapturePublisher {
    package struct Options: Sendable {
        /// Records per second; nil = as fast as possible.
        package var recordsPerSecond: Double?
        /// Keep a record's own partition number instead of choosing by its key.
        package var keepsPartitions = false
        /// How long a record may wait for its broker before it counts as failed.
        package var deliveryMilliseconds = 600_000
        /// How long a publisher that was stopped waits for acknowledgements.
        package var stopMilliseconds = 10_000

        package init() {}
    }

    private let topic: String
    private let options: Options
    private let producer: Producer
    private var isWaitTold = false
    private var random = SystemRandomNumberGenerator()

    package init(properties: [(String, String)], topic: String, options: Options = Options()) throws {
        (self.topic, self.options) = (topic, options)
        var properties = KafkaProperties(properties)
        properties["message.timeout.ms"] = String(options.deliveryMilliseconds)
        // The library logs nothing: `waiting` and the report name its faults.
        producer = try Producer(properties.completed(defaults: [("log_level", "0")]))
    }

    /// Publishes until `next` returns nil (or `isStopped` says so), then waits for every acknowledgement.
    ///
    /// Keys choose partitions as Java clients do (murmur2); records without a key go to random ones.
    ///
    /// - Parameters:
    ///   - progress: called often with the records acknowledged so far, during the last wait too.
    ///   - waiting: called once, when a connection has failed.
    /// - Throws: what `next` throws, and a fault when the topic cannot be found.
    package func publish(
        isStopped: () -> Bool = { false },
        progress: (_ acknowledged: Int) -> Void = { _ in },
        waiting: (KafkaFault) -> Void = { _ in },
        next: () throws -> PublishRecord?
    ) throws -> PublishReport {
        let count = try producer.partitionCount(of: topic)
        var pacer = Pacer(recordsPerSecond: options.recordsPerSecond)
        while !isStopped(), let record = try next() {
            while let wait = pacer.millisecondsToWait(), !isStopped() { producer.poll(timeoutMilliseconds: wait) }
            pacer.count()
            do {
                try produce(record, among: count)
            } catch let fault as KafkaFault {
                return finish(fault)
            }
            progress(producer.summary.acknowledged)
            tell(waiting)
        }
        wait(isStopped) {
            progress($0)
            tell(waiting)
        }
        return finish(nil, timeBudget: isStopped() ? 0 : options.deliveryMilliseconds + 10_000)
    }

    private func tell(_ waiting: (KafkaFault) -> Void) {
        guard !isWaitTold, let fault = producer.connectionFault else { return }
        isWaitTold = true
        waiting(fault)
    }

    private func produce(_ record: PublishRecord, among count: Int32) throws {
        try producer.produce(
            topic: topic,
            partition: partition(of: record, among: count),
            key: record.key,
            value: record.value,
            headers: record.headers,
            budgetMilliseconds: options.deliveryMilliseconds
        )
    }

    private func partition(of record: PublishRecord, among count: Int32) -> Int32 {
        if options.keepsPartitions, let partition = record.partition { return partition }
        guard let key = record.key else { return Int32.random(in: 0..<count, using: &random) }
        return Partitioner.murmur2.partition(of: key, count: count)
    }

    /// Waits until every record has its answer; a stop shortens the wait.
    private func wait(_ isStopped: () -> Bool, _ progress: (Int) -> Void) {
        var end = ContinuousClock.now + .milliseconds(options.deliveryMilliseconds + 10_000)
        var wasStopped = false
        while producer.outstanding > 0, .now < end {
            if !wasStopped, isStopped() {
                wasStopped = true
                end = min(end, .now + .milliseconds(options.stopMilliseconds))
            }
            producer.poll(timeoutMilliseconds: Self.waitMilliseconds)
            progress(producer.summary.acknowledged)
        }
    }

    private static let waitMilliseconds = 50

    private func finish(_ fault: KafkaFault?, timeBudget: Int? = nil) -> PublishReport {
        var firstFailure = fault
        do {
            // Every record is acknowledged or fails within its own time limit.
            try producer.flush(timeoutMilliseconds: timeBudget ?? options.deliveryMilliseconds + 10_000)
        } catch {
            firstFailure = firstFailure ?? error
        }
        let summary = producer.summary
        return PublishReport(
            acknowledged: summary.acknowledged,
            failed: summary.failed + summary.withoutOffset + producer.outstanding + (fault == nil ? 0 : 1),
            firstFailure: firstFailure?.description
        )
    }
}

/// Spreads records evenly over time.
package struct Pacer {
    private let interval: Duration?
    private let start = ContinuousClock.now
    private var due: Duration = .zero

    package init(recordsPerSecond: Double?) {
        interval = recordsPerSecond.flatMap { $0 > 0 ? .seconds(1 / $0) : nil }
    }

    /// How long until the next record is due; nil when it is, or when there is no rate.
    package func millisecondsToWait() -> Int? {
        guard interval != nil else { return nil }
        let left = due - (.now - start)
        guard left >= .milliseconds(1) else { return nil }
        return min(50, Int(left / .milliseconds(1)))
    }

    package mutating func count() {
        if let interval { due += interval }
    }
}

/// A record to publish. Its own partition number counts only with ``CapturePublisher/Options/keepsPartitions``.
package struct PublishRecord: Sendable, Equatable {
    package var key: [UInt8]?
    package var value: [UInt8]?
    package var headers: [RecordHeader]
    package var partition: Int32?

    package init(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = [], partition: Int32? = nil) {
        (self.key, self.value, self.headers, self.partition) = (key, value, headers, partition)
    }
}
