internal import Dispatch
package import Kafka
package import KafkaPorts
internal import Pipeline
internal import Synchronization
internal import Threads

/// Reads a topic of answers from its end, committed records only, on a separate thread.
package final class AnswerReader: Sendable {
    private static let mostRecords = 1_000
    private static let waitMilliseconds = 100
    private static let askMilliseconds = 5_000
    private static let restMilliseconds = 200
    private static let connectMilliseconds = 2_000
    private static let firstMilliseconds = 3_000

    package let topic: String
    private let properties: KafkaProperties
    private let partitions: [Int32]
    private let isStopping = Atomic<Bool>(false)
    private let heard = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let take: @Sendable ([TopicRecord]) -> Void
    private let trouble: @Sendable (KafkaFault) -> Void

    /// - Parameter take: takes records in each partition's order, on the reader's thread.
    package init(
        _ properties: KafkaProperties,
        topic: String,
        partitions: [Int32],
        take: @escaping @Sendable ([TopicRecord]) -> Void,
        trouble: @escaping @Sendable (KafkaFault) -> Void
    ) {
        (self.properties, self.topic, self.partitions) = (properties, topic, partitions)
        (self.take, self.trouble) = (take, trouble)
    }

    /// Learns where the partitions end, and reads from there on: whatever is produced after this call is answered after
    /// these ends.
    package func start() throws(KafkaFault) {
        let opened = Locked<Result<Void, KafkaFault>?>(nil)
        let begun = DispatchSemaphore(value: 0)
        DispatchQueue(owner: "gateway.reader").async {
            do throws(KafkaFault) {
                var positions: [Int32: Int64] = [:]
                let reader = try self.open(at: &positions)
                opened.withLock { $0 = .success(()) }
                begun.signal()
                self.work(reader, positions)
            } catch {
                opened.withLock { $0 = .failure(error) }
                begun.signal()
            }
        }
        begun.wait()
        try opened.withLock { $0 }?.get()
    }

    /// Waits, but not for long, until a first fetch of each partition has come back: an answer before it would wait, too.
    ///
    /// - Returns: whether it has; an open transaction may hold it back.
    @discardableResult
    package func awaitFirst() -> Bool {
        heard.wait(timeout: .now() + .milliseconds(Self.firstMilliseconds)) == .success
    }

    package func stop() {
        isStopping.store(true, ordering: .relaxed)
        _ = ended.wait(timeout: .now() + .seconds(2))
    }

    /// - Parameter positions: where partitions are read from; those without one get their ends.
    private func open(at positions: inout [Int32: Int64]) throws(KafkaFault) -> TopicReader {
        let reader = try TopicReader(properties, topic: topic)
        for partition in partitions where positions[partition] == nil {
            positions[partition] = try reader.watermarks(of: partition, timeoutMilliseconds: Self.askMilliseconds).high
        }
        reader.connect(to: partitions, timeoutMilliseconds: Self.connectMilliseconds)
        try reader.start(positions.map { PartitionOffset(partition: $0.key, offset: $0.value) })
        return reader
    }

    /// - Parameter starts: where `first` began: a reader that is made after a fault goes on where the last one was.
    private func work(_ first: TopicReader, _ starts: [Int32: Int64]) {
        var (reader, positions): (TopicReader?, [Int32: Int64]) = (first, starts)
        var hasHeard = false
        while !isStopping.load(ordering: .relaxed) {
            do throws(KafkaFault) {
                guard let current = reader, !current.isOutdated else {
                    reader = try open(at: &positions)
                    continue
                }
                let records = try current.poll(
                    maxRecords: Self.mostRecords,
                    timeoutMilliseconds: Self.waitMilliseconds
                )
                if !hasHeard, current.hasHeardAll {
                    hasHeard = true
                    heard.signal()
                }
                guard !records.isEmpty else { continue }
                for record in records { positions[record.partition] = record.offset + 1 }
                take(records)
            } catch {
                trouble(error)
                // What retention has deleted no call waits for any more.
                if error.isOffsetGone { positions = [:] }
                reader = nil
                _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(Self.restMilliseconds))
            }
        }
        ended.signal()
    }
}
