internal import Broker
internal import Dispatch
package import KafkaPorts
internal import Pipeline
internal import Synchronization
internal import Threads

/// Reads a topic of answers from its end, committed records only, on a separate thread.
package final class AnswerReader: Sendable {
    private static let waitMilliseconds = 100
    private static let restMilliseconds = 200
    private static let firstMilliseconds = 3_000

    private let partitions: [Int32]
    private let make: @Sendable () throws(KafkaFault) -> any RecordReading
    private let isStopping = Atomic<Bool>(false)
    private let heard = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let take: @Sendable ([TopicRecord]) -> Void
    private let trouble: @Sendable (KafkaFault) -> Void

    /// - Parameters:
    ///   - make: makes a reader of the topic.
    ///   - take: takes records in each partition's order, on the reader's thread.
    package init(
        of partitions: [Int32],
        _ make: @escaping @Sendable () throws(KafkaFault) -> any RecordReading,
        take: @escaping @Sendable ([TopicRecord]) -> Void,
        trouble: @escaping @Sendable (KafkaFault) -> Void
    ) {
        (self.partitions, self.make) = (partitions, make)
        (self.take, self.trouble) = (take, trouble)
    }

    /// Learns where the partitions end, and reads from there on: whatever is produced after this call is answered after
    /// these ends.
    package func start() throws(KafkaFault) {
        let fault = Locked<KafkaFault?>(nil)
        let begun = DispatchSemaphore(value: 0)
        DispatchQueue(owner: "gateway.reader").async {
            do throws(KafkaFault) {
                let feed = TopicFeed(of: self.partitions, self.make)
                try feed.open()
                begun.signal()
                self.work(feed)
            } catch {
                fault.withLock { $0 = error }
                begun.signal()
            }
        }
        begun.wait()
        if let fault = fault.withLock({ $0 }) { throw fault }
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

    private func work(_ feed: TopicFeed) {
        var hasHeard = false
        while !isStopping.load(ordering: .relaxed) {
            do throws(KafkaFault) {
                let records = try feed.poll(waiting: Self.waitMilliseconds)
                if !hasHeard, feed.hasHeardAll {
                    hasHeard = true
                    heard.signal()
                }
                if !records.isEmpty { take(records) }
            } catch {
                trouble(error)
                _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(Self.restMilliseconds))
            }
        }
        ended.signal()
    }
}
