import DeviceLab
import Streams
import TestKit
import Testing

@testable import SimulationKit

/// What librdkafka does to a partition under orders of calls that look alike.
@Suite("A client's steps of a partition")
struct ClientStepsTests {
    enum Order: CaseIterable {
        /// Before they were put into order: assign, pause, assign, pause, resume, seek.
        case resumeThenSeek
        case seekThenResume
        case pauseFirst
        /// The member's: what is assigned is stopped before, and a start is known to be queued before the first seek.
        case stopFirstSeekTwice
    }

    struct Outcome {
        /// Seeds on which some partition never gave a record.
        var silent: UInt64 = 0
        /// Seeds whose last first record came later than half a second after the start.
        var late: UInt64 = 0
        var assertions: UInt64 = 0
    }

    private static let some = RequestRecords.record([1], key: nil, partition: 0, offset: 0)

    private static func request(_ partition: Int32, _ offset: Int64) -> InboundRecord {
        var record = some
        (record.partition, record.offset) = (partition, offset)
        return record
    }

    private static let numbers: [Int32] = [0, 1, 2, 3]
    static let seeds: UInt64 = 1_000

    /// Assigns at the beginning, asks, assigns at the right places, starts each.
    private static func run(_ order: Order, _ seed: UInt64, openCommit: Bool) -> Outcome {
        var random = SeededRandom(seed: seed)
        let steps = PartitionSteps(seed: random.next())
        steps.preempted = 0.02
        steps.fetch = { .record(Self.request($0, $1)) }
        func pass(_ milliseconds: Int64) { steps.advance(to: steps.now + milliseconds) }
        var awaitsCommit = false
        func assignPaused(at offset: Int64) {
            let before = order == .pauseFirst ? steps.assigned : []
            pause(steps, before)
            if order == .stopFirstSeekTwice {
                steps.assign([])
                steps.passMain()
            }
            awaitsCommit = order == .stopFirstSeekTwice && steps.isCommitOpen
            if awaitsCommit { pause(steps, numbers) }
            steps.assign(numbers.map { ($0, offset) })
            if !awaitsCommit { pause(steps, numbers.filter { !before.contains($0) }) }
        }
        assignPaused(at: -2)
        for _ in 0..<random.below(12) { pass(1) }
        steps.isCommitOpen = openCommit
        steps.hasCommitAnswer = { random.below(8) == 0 }
        assignPaused(at: 7)
        let began = steps.now
        while awaitsCommit, steps.isCommitOpen { pass(20) }
        if awaitsCommit { steps.passMain() }
        start(steps, order, pass)
        return outcome(steps, began, pass)
    }

    private static func pause(_ steps: PartitionSteps, _ numbers: [Int32]) {
        _ = steps.call(numbers.map { ($0, .pause(true, byLibrary: false)) })
    }

    private static func start(_ steps: PartitionSteps, _ order: Order, _ pass: (Int64) -> Void) {
        var open = numbers
        if order == .resumeThenSeek { _ = steps.call(numbers.map { ($0, .pause(false, byLibrary: false)) }) }
        for _ in 0..<4_000 where !open.isEmpty {
            let sought = steps.call(open.map { ($0, .seek(7)) })
            let ready = open.filter { sought[$0] == .done }
            if order != .resumeThenSeek { _ = steps.call(ready.map { ($0, .pause(false, byLibrary: false)) }) }
            if order == .stopFirstSeekTwice { _ = steps.call(ready.map { ($0, .seek(7)) }) }
            open.removeAll(where: ready.contains)
            pass(20)
        }
    }

    private static func outcome(_ steps: PartitionSteps, _ began: Int64, _ pass: (Int64) -> Void) -> Outcome {
        var (given, last): (Set<Int32>, Int64) = ([], began)
        for _ in 0..<400 where given.count < numbers.count {
            while let (partition, delivery) = steps.poll() {
                guard case .record(let record) = delivery else { continue }
                // A late lookup of the beginning may set the partition back: the contract's script A11.
                let mayCome = [0, 7].contains(record.offset)
                #expect(given.contains(partition) || mayCome, "no record from before the seek")
                if given.insert(partition).inserted { last = steps.now }
            }
            pass(20)
        }
        var outcome = Outcome()
        outcome.assertions = steps.assertion == nil ? 0 : 1
        outcome.silent = given.count < numbers.count ? 1 : 0
        outcome.late = outcome.silent == 0 && last - began > 500 ? 1 : 0
        return outcome
    }

    private static func outcome(of order: Order, openCommit: Bool = false) -> Outcome {
        (1...seeds).reduce(into: Outcome()) { sum, seed in
            let one = run(order, seed, openCommit: openCommit)
            sum.silent += one.silent
            sum.late += one.late
            sum.assertions += one.assertions
        }
    }

    @Test(arguments: Order.allCases)
    func `an order of calls loses starts, is slow, or is neither, as on the library`(order: Order) {
        let outcome = Self.outcome(of: order)
        print("\(order): of \(Self.seeds) seeds \(outcome.silent) silent, \(outcome.late) late")
        #expect(outcome.assertions == 0)
        switch order {
        case .resumeThenSeek:
            #expect(outcome.silent > Self.seeds / 200)
            #expect(outcome.late < Self.seeds / 20)
        case .seekThenResume:
            #expect(outcome.silent > 0)
            #expect(outcome.late > Self.seeds / 2)
        case .pauseFirst:
            #expect(outcome.silent == 0)
            #expect(outcome.late > Self.seeds / 2)
        case .stopFirstSeekTwice:
            #expect(outcome.silent == 0)
            // Where it is set back.
            #expect(outcome.late < Self.seeds / 50)
        }
    }

    /// A late answer about a first offset lets a partition be sought before it is started: only a start that is queued
    /// before is safe.
    @Test(arguments: [Order.stopFirstSeekTwice, .pauseFirst])
    func `an open commit of offsets delays starts, and loses those that are not waited for`(order: Order) {
        let outcome = Self.outcome(of: order, openCommit: true)
        #expect((outcome.silent == 0) == (order == .stopFirstSeekTwice))
        #expect(outcome.assertions == 0)
    }
}
