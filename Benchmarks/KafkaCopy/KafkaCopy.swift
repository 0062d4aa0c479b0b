internal import Broker
internal import Foundation
internal import Kafka
internal import Member
internal import Settings
internal import Streams

/// The Kafka side of `run` without the verification: polls requests, writes each one's value as its result and a key's
/// record to the ledger topic, commits, all through the worker's own exactly-once member. Prints records per second
/// from the first commit to the last. What it leaves on the ledger topic is nobody's state.
@main
struct KafkaCopy {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let count = Int(arguments[2]) else {
            print("Usage: KafkaCopy DIR COUNT    (a config directory whose topics exist, records to copy)")
            exit(2)
        }
        let settings = try brokerSettings(Configuration.load(directory: arguments[1]))
        let wakeup = DispatchSemaphore(value: 0)
        let member = try HostedMember(.transaction, settings, wake: { wakeup.signal() })
        let streams = member.streams
        var (copied, commits) = (0, 0)
        var start: ContinuousClock.Instant?
        var first = 0
        while copied < count {
            let round = try gather(streams)
            if streams.isAwaiting { _ = wakeup.wait(timeout: .now() + .milliseconds(25)) }
            if case .assigned(_, let announcement, _)? = round.events.first { try restore(streams, announcement) }
            guard !round.records.isEmpty else { continue }
            try copy(round, streams, wakeup)
            copied += round.records.count
            commits += 1
            if start == nil { (start, first) = (.now, copied) }
        }
        let seconds = start.map { (ContinuousClock.now - $0) / .seconds(1) } ?? 0
        print("\(copied) records, \(commits) commits, \(Int(Double(copied - first) / max(seconds, 0.001))) records/s")
        member.close()
    }

    /// The records of 100 ms, as many as a batch takes.
    private static func gather(_ streams: MemberStreams) throws -> PollRound {
        let end = ContinuousClock.now + .milliseconds(100)
        var round = try streams.poll(BatchLimits(), waitMilliseconds: 100)
        while round.events.isEmpty, !round.records.isEmpty, .now < end {
            var rest = BatchLimits()
            rest.records -= round.records.count
            guard rest.records > 0 else { break }
            let more = try streams.poll(rest, waitMilliseconds: 5)
            round.records += more.records
            round.events = more.events
        }
        return round
    }

    private static func brokerSettings(_ configuration: Configuration) -> BrokerSettings {
        BrokerSettings(
            properties: configuration.kafkaProperties.map { ($0.name, $0.value) },
            topics: configuration.topics,
            instanceName: "copy",
            membership: .dynamic
        )
    }

    private static func restore(_ streams: MemberStreams, _ announcement: Generation) throws {
        streams.restore(kept: [], of: announcement)
        var unread = Set(streams.assigned ?? [])
        while !unread.isEmpty {
            for case .ledgerGiven(let partition) in try streams.readLedgers(10_000, waitMilliseconds: 100) {
                _ = try streams.ledgerIsWhole(partition, mark: nil, isEmpty: true, of: announcement)
                unread.remove(partition)
            }
        }
    }

    private static let requestID = Array("request-id".utf8)

    private static func copy(_ round: PollRound, _ streams: MemberStreams, _ wakeup: DispatchSemaphore) throws {
        var outputs: [OutboundRecord] = []
        var ends: [Int32: Int64] = [:]
        outputs.reserveCapacity(2 * round.records.count)
        for record in round.records.lazy.compactMap({ $0.take() }) {
            ends[record.partition] = record.offset + 1
            outputs.append(
                OutboundRecord(
                    stream: .results,
                    partition: record.partition,
                    sourceOffset: record.offset,
                    sourceTimestamp: record.timestamp,
                    key: record.key,
                    value: record.value,
                    requestID: record.headers.last { $0.name == requestID }?.value,
                    status: 200
                )
            )
            outputs.append(LedgerSample.record(of: record))
        }
        let positions = ends.map { PartitionPosition(partition: $0.key, offset: $0.value) }
        try streams.write([outputs], positions, of: round.generation)
        while !streams.hasOutcome {
            _ = wakeup.wait(timeout: .now() + .milliseconds(25))
            _ = try streams.serve()
        }
        try streams.takeOutcome()
    }
}
