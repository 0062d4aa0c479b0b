internal import Broker
internal import CommandFrame
internal import Kafka
internal import KafkaPorts
internal import Run
internal import Settings
internal import Streams
internal import Study
internal import Synchronization
internal import Telemetry

/// A capture on its way to the requests topic, until its end or a signal.
struct Publishing {
    /// How much longer than its wait for acknowledgements a stopped command may take, in seconds.
    private static let graceSeconds = 2.0

    private let lines: CaptureLines
    private let console: Console
    private var meter: ProgressMeter
    private var count = 0
    /// A line that cannot be read ends the capture: the records before it are sent and counted first.
    private(set) var badLine: CommandFault?
    private(set) var wasStopped = false
    private var reachedEnd = false

    init(lines: CaptureLines, console: Console) {
        (self.lines, self.console) = (lines, console)
        meter = ProgressMeter("publish", unit: "record", state: "acknowledged", total: nil, console: console)
    }

    /// The one line about a stop.
    static func stopped(acknowledged: Int) -> String {
        "stopped by a signal before the end: \(acknowledged.counted("record", "was", "were")) acknowledged."
    }

    /// - Returns: when every record has its answer, or soon after a signal.
    mutating func run(
        properties: [(String, String)],
        _ topic: String,
        _ options: CapturePublisher.Options
    ) throws -> PublishReport {
        let (stop, acknowledged) = (StopFlag(), AcknowledgedCount())
        let shutdown = Shutdown { shutdown in
            stop.set()
            // A broker that takes nothing, or a pipe that gives nothing, may hold the other thread.
            shutdown.limit(seconds: Double(options.stopMilliseconds) / 1000 + Self.graceSeconds) {
                Console.standard.printError("\(AttestWorker.name): \(Self.stopped(acknowledged: acknowledged.value))")
            }
        }
        defer {
            shutdown.cancel()
            meter.finish()
        }
        let publisher = try CapturePublisher(properties: properties, topic: topic, options: options)
        let report = try publisher.publish(
            isStopped: { stop.isSet },
            progress: { done in
                acknowledged.set(done)
                // What is only on its way does not count.
                meter.update(done, share: lines.share.map { $0 * min(1, Double(done) / Double(max(1, count))) })
            },
            waiting: {
                meter.finish()
                console.printError(ConnectionWords($0.message).waiting)
            },
            next: { next() }
        )
        // A signal after the last record has changed nothing.
        wasStopped = stop.isSet && !(reachedEnd && report.isComplete)
        return report
    }

    private mutating func next() -> PublishRecord? {
        do throws(CommandFault) {
            guard let record = try lines.next() else {
                reachedEnd = true
                return nil
            }
            count += 1
            return PublishRecord(key: record.key, value: record.value, headers: record.headers)
        } catch {
            badLine = error
            return nil
        }
    }
}

/// Set by the thread that publishes, read by the one that handles signals.
private final class AcknowledgedCount: Sendable {
    private let count = Atomic<Int>(0)
    func set(_ value: Int) { count.store(value, ordering: .relaxed) }
    var value: Int { count.load(ordering: .relaxed) }
}
