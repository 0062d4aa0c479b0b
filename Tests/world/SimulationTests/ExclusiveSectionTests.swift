import AppAttest
import DeviceLab
import SimulationKit
import Streams
import TestKit
import Testing

@testable import Pipeline

/// Loops of one process share its lanes: a record that may crash it must run while none of them does anything else.
@Suite("Loops that leave each other alone")
struct ExclusiveSectionTests {
    /// Two loops on the same lanes, each with two partitions of its own.
    private final class Pair {
        let streams: [SimulatedStreams]
        let loops: [BatchLoop]
        let lanes: SimulatedLanes
        private(set) var loneBatches: Set<String> = []
        private(set) var breaches: [String] = []
        private var random: SeededRandom

        init(_ suspects: (InboundRecord) -> Bool, seed: UInt64) throws {
            let traffic = try FleetTraffic.imitated.get()
            let records = try traffic.records(60, partitions: 4, seed: 8)
            let counts = records.filter(suspects)
                .map { (WorkItem(RecordStamp($0)), CrashSuspects.Count(total: 1, alone: 0)) }
            let lanes = SimulatedLanes(scratch: try traffic.scratch(), seed: seed)
            var chances = SimulatedStreams.Chances()
            (chances.commitFault, chances.callFault, chances.rebalance) = (0.05, 0.02, 0.01)
            chances.faults = [.nothingDone]
            let section = ExclusiveSection(loops: 2)
            let streams = (0..<2 as Range<Int32>).map { half in
                SimulatedStreams(
                    records: records.filter { $0.partition / 2 == half },
                    seed: seed &+ UInt64(half),
                    chances: chances
                )
            }
            loops = streams.enumerated().map { number, own in
                var options = BatchLoop.Options()
                options.batch.records = 8
                options.slot = section.slots[number]
                options.suspects = CrashSuspects(Dictionary(uniqueKeysWithValues: counts))
                return lanes.loop(StreamRoles(own), traffic.settings, options, wallClock: { RequestRecords.now })
            }
            (self.streams, self.lanes) = (streams, lanes)
            random = SeededRandom(seed: seed)
        }

        /// Runs both to their ends. - Returns: false where they did not get there.
        func run() throws -> Bool {
            var running = [0, 1]
            for _ in 0..<200_000 where !running.isEmpty {
                if Int.random(in: 0..<5, using: &random) < 2, lanes.finishOne() { continue }
                let number = running[Int.random(in: 0..<running.count, using: &random)]
                if try loops[number].tick(waitMilliseconds: 0) == .finished { running.removeAll { $0 == number } }
                noteBreaches()
            }
            return running.isEmpty
        }

        private func noteBreaches() {
            for (number, loop) in loops.enumerated() {
                for batch in loop.inFlight where batch.isAlone {
                    loneBatches.insert("\(number)/\(batch.number)")
                    if loop.inFlight.count > 1 || !loops[1 - number].inFlight.isEmpty {
                        breaches.append("loop \(number), batch \(batch.number)")
                    }
                }
            }
        }
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `a suspect of either loop runs with nothing else in flight in both, and every request is answered`(
        seed: UInt64
    ) throws {
        let pair = try Pair({ $0.offset % 5 == 2 }, seed: seed)
        #expect(try pair.run())
        #expect(pair.breaches.isEmpty, "\(pair.breaches)")
        #expect(pair.loneBatches.count >= 8)
        #expect(pair.loops.map(\.tally.requests).reduce(0, +) == 60)
    }

    @Test func `without suspects the loops do not wait for each other`() throws {
        let section = ExclusiveSection(loops: 2)
        let (one, two) = (section.slots[0], section.slots[1])
        #expect(one.start() && two.start() && one.start())
    }

    @Test func `who wants to be alone waits for the others, and they start nothing until it is done`() throws {
        let section = ExclusiveSection(loops: 3)
        let (one, two, three) = (section.slots[0], section.slots[1], section.slots[2])
        #expect(two.start())
        #expect(!one.startExclusively(), "two has work in flight")
        #expect(!two.start() && !three.start() && !three.startExclusively(), "one waits")
        two.rest(waitsForOthers: false)
        #expect(one.startExclusively())
        #expect(!two.start())
        one.rest(waitsForOthers: false)
        #expect(three.startExclusively(), "the next in turn")
        three.rest(waitsForOthers: false)
        #expect(two.start())
    }

    @Test func `a wish that is gone holds nobody up`() throws {
        let section = ExclusiveSection(loops: 2)
        let (one, two) = (section.slots[0], section.slots[1])
        #expect(two.start() && !one.startExclusively())
        one.rest(waitsForOthers: true)
        #expect(!two.start(), "it still waits")
        one.rest(waitsForOthers: false)
        #expect(two.start())
    }

    @Test func `a loop that was alone and never rests does not hold the others up`() throws {
        let section = ExclusiveSection(loops: 2)
        let (one, two) = (section.slots[0], section.slots[1])
        #expect(one.startExclusively() && !two.start())
        // Its next batch starts in the tick in which the lone one ends.
        #expect(one.start())
        #expect(two.start())
    }
}
