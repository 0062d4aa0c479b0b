import AppAttest
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// How a loop processes records that crashed earlier processes.
@Suite("Crashes")
struct CrashTests {
    private final class Passed: @unchecked Sendable {
        var items: [WorkItem] = []
    }

    private struct Outcome {
        var letters: [RecordPlace: String] = [:]
        var results = 0
        var passed: [WorkItem] = []
    }

    private static func records() throws -> [InboundRecord] {
        try FleetTraffic.imitated.get().records(40, partitions: 2, seed: 8)
    }

    private static func item(_ record: InboundRecord) -> WorkItem {
        WorkItem(
            place: RecordPlace(partition: record.partition, offset: record.offset),
            timestamp: record.timestamp
        )
    }

    private static func run(_ suspects: [WorkItem: CrashSuspects.Count], seed: UInt64) throws -> Outcome {
        let passed = Passed()
        var chances = SimulatedStreams.Chances()
        (chances.commitFault, chances.callFault, chances.rebalance) = (0.1, 0.05, 0.02)
        chances.faults = [.nothingDone]
        let streams = SimulatedStreams(records: try records(), seed: seed, chances: chances)
        let rig = try TrafficLoop(
            StreamRoles(streams),
            seed: seed,
            wallClock: { RequestRecords.now },
            options: {
                $0.batch.records = 16
                $0.suspects = CrashSuspects(suspects)
                $0.passed = { passed.items += $0 }
            }
        )
        #expect(try rig.run())
        var outcome = Outcome(passed: passed.items)
        for record in streams.visible {
            if record.stream == .results { outcome.results += 1 }
            guard record.stream == .deadLetters else { continue }
            let reason = record.headers.first { $0.name == Array("dlq.reason".utf8) }?.value ?? []
            let place = RecordPlace(partition: record.partition, offset: record.sourceOffset)
            #expect(outcome.letters.updateValue(String(decoding: reason, as: UTF8.self), forKey: place) == nil)
        }
        return outcome
    }

    @Test(
        "a convicted record becomes an internal dead letter, and all others are answered once",
        arguments: 1...8 as ClosedRange<UInt64>
    )
    func convicted(seed: UInt64) throws {
        let records = try Self.records()
        let without = try Self.run([:], seed: seed)
        let (guilty, suspect) = (Self.item(records[7]), Self.item(records[20]))
        let counts = [
            guilty: CrashSuspects.Count(total: 3, alone: 2), suspect: CrashSuspects.Count(total: 2, alone: 1),
        ]
        let outcome = try Self.run(counts, seed: seed)
        #expect(outcome.letters[guilty.place] == "internal")
        #expect(outcome.letters.filter { $0.key != guilty.place } == without.letters.filter { $0.key != guilty.place })
        #expect(outcome.letters.count + outcome.results == records.count)
        #expect(Set(outcome.passed) == [guilty, suspect], "both have passed")
    }

    @Test(
        "a suspect is processed alone, and no other record is",
        arguments: 1...8 as ClosedRange<UInt64>
    )
    func alone(seed: UInt64) throws {
        #if DEBUG
            let records = try Self.records()
            let (suspect, loopWork, seen) = (Self.item(records[20]), WorkSlot(), Passed())
            let rig = try TrafficLoop(
                StreamRoles(SimulatedStreams(records: records, seed: seed)),
                seed: seed,
                wallClock: { RequestRecords.now },
                options: {
                    $0.batch.records = 16
                    $0.work = loopWork
                    $0.suspects = CrashSuspects([suspect: CrashSuspects.Count(total: 1)])
                }
            )
            for slot in [rig.scratch.work, loopWork] {
                slot.sabotage = { [weak slot] _, items in
                    guard let work = slot?.snapshot() else { return }
                    if items.contains(suspect) {
                        #expect(work.isAlone && items == [suspect])
                        seen.items += items
                    }
                }
            }
            #expect(try rig.run())
            #expect(seen.items.count >= 4, "decoded, resolved, verified and judged")
        #endif
    }
}
