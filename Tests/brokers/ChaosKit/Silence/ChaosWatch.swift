internal import BrokerKit
internal import Foundation
internal import Kafka
internal import KafkaPorts
internal import Streams
internal import Threads

/// A reader beside a run: it notes when it sees each request and each outcome, on a thread of its own.
final class ChaosWatch: Sendable {
    private struct State {
        var sightings: [ChaosSilences.Sighting] = []
        /// When each outcome was seen, by its own place among results or among dead letters.
        var outcomes: [Stream: [RecordPlace: Double]] = [:]
        var mustStop = false
        var hasEnded = true
        var fault: String?
    }

    private enum Stream: String, CaseIterable { case requests, results, deadLetters = "dead-letters" }

    private static let pollMilliseconds = 20
    private static let pauseMicroseconds: UInt32 = 200_000

    private let begin = ContinuousClock.now
    private let state = Locked(State())
    private let properties: KafkaProperties
    private let topics: [Stream: (name: String, start: [PartitionOffset])]

    /// - Parameter before: what is there already, which is not looked at.
    init(_ workplace: ProgramWorkplace, before: ChaosBefore) {
        properties = workplace.properties.completed(defaults: [("fetch.wait.max.ms", "50")])
        topics = Stream.allCases.reduce(into: [:]) { topics, stream in
            let ends = before.ends[stream.rawValue] ?? [:]
            let start = (0..<workplace.partitions).map {
                PartitionOffset(partition: $0, offset: ends[$0] ?? PartitionOffset.beginning)
            }
            topics[stream] = (workplace.topic(stream.rawValue), start)
        }
    }

    /// Seconds since this object was made.
    var now: Double { (.now - begin) / .seconds(1) }

    func start() {
        state.withLock { $0.hasEnded = false }
        Thread { [self] in
            do { try run() } catch { state.withLock { $0.fault = "\(error)" } }
            state.withLock { $0.hasEnded = true }
        }
        .start()
    }

    /// Ends the reading, and waits for that.
    func stop() {
        state.withLock { $0.mustStop = true }
        while !state.withLock({ $0.hasEnded }) { usleep(1_000) }
    }

    /// Why it saw nothing more; nil = it saw all.
    var fault: String? { state.withLock { $0.fault } }

    func silences(_ deeds: [ChaosSilences.Deed]) -> ChaosSilences {
        ChaosSilences(state.withLock { $0.sightings }, deeds: deeds, end: now)
    }

    func sighting(of outcome: ChaosOutcome) -> Double? {
        state.withLock { $0.outcomes[outcome.isDeadLetter ? .deadLetters : .results]?[outcome.written] }
    }

    private func run() throws {
        var readers = try Stream.allCases.map { try reader(of: $0) }
        while !state.withLock({ $0.mustStop }) {
            for index in readers.indices {
                do { try look(&readers[index]) } catch {
                    // A client that is done for is replaced, where it was.
                    usleep(Self.pauseMicroseconds)
                    readers[index] = try reader(of: readers[index].stream, from: readers[index].next)
                }
            }
        }
    }

    private struct Reader {
        let stream: Stream
        let consumer: Consumer
        var next: [PartitionOffset]
    }

    private func reader(of stream: Stream, from places: [PartitionOffset]? = nil) throws -> Reader {
        let (name, start) = topics[stream] ?? ("", [])
        let consumer = try Consumer(properties, topic: name)
        let places = places ?? start
        try consumer.assign(places)
        return Reader(stream: stream, consumer: consumer, next: places)
    }

    /// Takes what has come to one of them.
    private func look(_ reader: inout Reader) throws(KafkaFault) {
        var wait = Self.pollMilliseconds
        while let event = reader.consumer.poll(waiting: wait) {
            wait = 0
            if case .fault(let fault) = event, fault.isFatal { throw fault }
            guard case .record(let record, _) = event else { continue }
            let place = record.stamp.place
            _ = record.take()
            reader.next[Int(place.partition)] = PartitionOffset(partition: place.partition, offset: place.offset + 1)
            note(reader.stream, place)
        }
    }

    private func note(_ stream: Stream, _ place: RecordPlace) {
        let at = now
        state.withLock { state in
            let kind: ChaosSilences.Sighting.Kind = stream == .requests ? .request : .outcome
            state.sightings.append(ChaosSilences.Sighting(kind, partition: place.partition, at: at))
            guard kind == .outcome else { return }
            state.outcomes[stream, default: [:]][place] = at
        }
    }
}
