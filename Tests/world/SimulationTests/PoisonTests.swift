import AppAttest
import Crypto
import DeviceLab
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// A record whose output is refused costs itself alone; no other fault costs a record.
@Suite("Poison")
struct PoisonTests {
    /// Dead letters by place, after one worker has done everything.
    private static func letters(
        refused: Set<RecordPlace>,
        seed: UInt64,
        batch: Int,
        call: FaultChances = .none
    ) throws -> [RecordPlace: OutboundRecord] {
        let (traffic, records) = (try FleetTraffic.imitated.get(), try records())
        var plan = SimulationPlan.calm()
        plan.seed = seed
        plan.batchRecords = batch
        plan.refused = refused
        plan.call = call
        plan.chaosSteps = call.retriable > 0 ? 400 : 0
        let scratch = try traffic.scratch()
        let fleet = SimulatedFleet(plan, records: records, settings: traffic.settings, scratch: scratch)
        #expect(fleet.run())
        #expect(fleet.breakdowns.isEmpty)
        let letters = fleet.broker.visible(.deadLetters).values.joined()
        let results = fleet.broker.visible(.results).values.joined()
        #expect(letters.count + results.count == records.count, "every request is answered once")
        return Dictionary(
            uniqueKeysWithValues: letters.map {
                (RecordPlace(partition: $0.partition, offset: $0.sourceOffset), $0)
            }
        )
    }

    private static func records() throws -> [InboundRecord] {
        try FleetTraffic.imitated.get().records(40, partitions: 2, seed: 8)
    }

    private static func places(_ indices: [Int]) throws -> Set<RecordPlace> {
        let records = try records()
        return Set(indices.map { RecordPlace(partition: records[$0].partition, offset: records[$0].offset) })
    }

    private static func header(_ name: String, of letter: OutboundRecord?) -> String? {
        letter?.headers.last { $0.name == Array(name.utf8) }?.value.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        arguments: [[7], [0], [39], [7, 8, 9], [3, 20, 33]],
        [1, 5, 16, 40]
    )
    func `a record whose output is refused becomes the shortest dead letter, and its neighbours are answered`(
        indices: [Int],
        batch: Int
    ) throws {
        let refused = try Self.places(indices)
        let without = try Self.letters(refused: [], seed: 3, batch: batch)
        let letters = try Self.letters(refused: refused, seed: 3, batch: batch)
        #expect(Set(letters.keys) == Set(without.keys).union(refused))
        for place in refused {
            let letter = try #require(letters[place])
            #expect(Self.header("dlq.reason", of: letter) == "too-large")
            #expect(Self.header("dlq.offset", of: letter) == String(place.offset))
            #expect(Self.header("dlq.truncated", of: letter) == "true")
            #expect(letter.value == nil && letter.key == nil)
        }
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `other faults never make a dead letter, however frequent they are`(seed: UInt64) throws {
        var call = FaultChances()
        call.retriable = 0.1
        call.abortable = 0.1
        call.fatal = 0.01
        call.crash = 0.01
        call.produceFault = 0.2
        call.indefinite = 0.2
        let without = try Self.letters(refused: [], seed: 3, batch: 8)
        #expect(try Self.letters(refused: [], seed: seed, batch: 8, call: call) == without)
        let refused = try Self.places([7, 21])
        let letters = try Self.letters(refused: refused, seed: seed, batch: 8, call: call)
        #expect(Set(letters.keys) == Set(without.keys).union(refused))
    }

    /// The setting is too small for one request's result, until an operator raises it.
    @Test(arguments: [0, 37, 99] as [Int64])
    func `a topic's setting makes no dead letter: the worker waits, names topic and setting, and answers then`(
        large: Int64
    ) throws {
        let value = Array(#"{"path": "v1/projects/1/apps/a:noSuchMethod", "body": {}}"#.utf8)
        let records = (0..<100 as Range<Int64>).map { RequestRecords.record(value, key: nil, offset: $0) }
        var (refusals, answered) = (0, [Int64]())
        let streams = ListStreams(records) { outputs in
            if refusals < 20, outputs.contains(where: { $0.sourceOffset == large && $0.stream == .results }) {
                refusals += 1
                throw SimulatedFault(.recordFault, limitingTopic: "appattest.results")
            }
            answered += outputs.filter { $0.stream == .results }.map(\.sourceOffset)
        }
        let told = Told()
        let rig = try TrafficLoop(
            StreamRoles(streams),
            notice: { told.lines.insert(String(describing: $0)) },
            options: { $0.batch.records = 100 }
        )
        #expect(try rig.run())
        #expect(rig.loop.tally.deadLetters.isEmpty && refusals == 20)
        #expect(answered == Array(0..<100))
        let line = try #require(told.lines.first { $0.contains("max.message.bytes") })
        #expect(line.contains("topic appattest.results") && line.contains("partition 0, offset \(large)"), "\(line)")
    }

    /// What the loop tells, once each.
    private final class Told: @unchecked Sendable {
        // Confined to the test's thread.
        var lines: Set<String> = []
    }

    @Test func `a dead letter keeps its value where the broker takes it, although its topic has a limit of its own`()
        throws
    {
        for (most, isWhole) in [(200, true), (80, false)] {
            let value = [UInt8](repeating: 0x41, count: 100)
            var letters: [OutboundRecord] = []
            let streams = ListStreams([RequestRecords.record(value, key: nil, offset: 0)]) { outputs in
                let isLarge = outputs.contains { ($0.value?.count ?? 0) > most }
                let isFirst = outputs.contains { $0.stream == .deadLetters && !$0.otherHeaders.contains(Self.tooLarge) }
                if isLarge || isFirst { throw SimulatedFault(.recordFault, limitingTopic: "appattest.dead-letters") }
                letters += outputs.filter { $0.stream == .deadLetters }
            }
            #expect(try TrafficLoop(StreamRoles(streams)).run())
            #expect(letters.map(\.value) == [isWhole ? value : nil])
            #expect((Self.header("dlq.truncated", of: letters.first) == "true") == !isWhole)
        }
    }

    private static let tooLarge = RecordHeader(name: Array("dlq.reason".utf8), value: Array("too-large".utf8))

    @Test func `a refusal of even a dead letter ends the work, and the message names the record`() throws {
        let streams = ListStreams([RequestRecords.record([1], key: nil, partition: 3, offset: 17)]) { _ in
            throw SimulatedFault(.recordFault)
        }
        let rig = try TrafficLoop(StreamRoles(streams))
        let fault = #expect(throws: RefusedRecordFault.self) { _ = try rig.run(steps: 1_000) }
        #expect(fault?.description.contains("partition 3, offset 17") == true)
    }

    @Test(arguments: [0, 1, 500, 999] as [Int64])
    func `once a record is found, those after it are not processed one by one`(refused: Int64) throws {
        let records = (0..<1_000 as Range<Int64>).map { RequestRecords.record([1], key: nil, offset: $0) }
        // Of one request it takes nothing but the shortest dead letter.
        let streams = ListStreams(records) { outputs in
            let isRefused = outputs.contains { $0.sourceOffset == refused && $0.value != nil }
            if isRefused { throw SimulatedFault(.recordFault) }
        }
        let rig = try TrafficLoop(StreamRoles(streams), options: { $0.batch.records = 1_000 })
        #expect(try rig.run())
        #expect(rig.loop.tally.deadLetters == ["not-json": 999, "too-large": 1])
        #expect(streams.transactions.count <= 25)
    }
}
