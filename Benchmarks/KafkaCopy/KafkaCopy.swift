internal import Broker
internal import Foundation
internal import Kafka
internal import Log
internal import Member
internal import Settings

/// The Kafka side of `run` without the verification: polls requests, writes each one's value as its result and a key's
/// record to the ledger topic, commits, all through the worker's own exactly-once log. Prints records per second from
/// the first commit to the last. What it leaves on the ledger topic is nobody's state.
@main
struct KafkaCopy {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let count = Int(arguments[2]) else {
            print("Usage: KafkaCopy DIR COUNT    (a config directory whose topics exist, records to copy)")
            exit(2)
        }
        let settings = try brokerSettings(Configuration.load(directory: arguments[1]))
        let bell = DispatchSemaphore(value: 0)
        let member = try HostedMember(.transaction, settings, wake: { bell.signal() })
        let log = member.log
        var (copied, commits) = (0, 0)
        var start: ContinuousClock.Instant?
        var first = 0
        while copied < count {
            let round = try gather(log)
            if log.isAwaiting { _ = bell.wait(timeout: .now() + .milliseconds(25)) }
            if case .assigned(_, let announcement, _)? = round.events.first { try restore(log, announcement) }
            guard !round.records.isEmpty else { continue }
            try copy(round, log, bell)
            copied += round.records.count
            commits += 1
            if start == nil { (start, first) = (.now, copied) }
        }
        let seconds = start.map { (ContinuousClock.now - $0) / .seconds(1) } ?? 0
        print("\(copied) records, \(commits) commits, \(Int(Double(copied - first) / max(seconds, 0.001))) records/s")
        member.close()
    }

    /// The records of 100 ms, as many as a batch takes.
    private static func gather(_ log: MemberLog) throws -> PollRound {
        let end = ContinuousClock.now + .milliseconds(100)
        var round = try log.poll(BatchLimits(), waitMilliseconds: 100)
        while round.events.isEmpty, !round.records.isEmpty, .now < end {
            var rest = BatchLimits()
            rest.records -= round.records.count
            guard rest.records > 0 else { break }
            let more = try log.poll(rest, waitMilliseconds: 5)
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

    private static func restore(_ log: MemberLog, _ announcement: Generation) throws {
        log.restore(kept: [], of: announcement)
        var unread = Set(log.assigned ?? [])
        while !unread.isEmpty {
            for case .ledgerGiven(let partition) in try log.readLedgers(10_000, waitMilliseconds: 100) {
                _ = try log.ledgerIsWhole(partition, mark: nil, isEmpty: true, of: announcement)
                unread.remove(partition)
            }
        }
    }

    private static let requestID = Array("request-id".utf8)

    private static func copy(_ round: PollRound, _ log: MemberLog, _ bell: DispatchSemaphore) throws {
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
        try log.write([outputs], positions, of: round.generation)
        while !log.hasOutcome {
            _ = bell.wait(timeout: .now() + .milliseconds(25))
            _ = try log.serve()
        }
        try log.takeOutcome()
    }
}
