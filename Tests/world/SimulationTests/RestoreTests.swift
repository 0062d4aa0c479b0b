import AppAttest
import Crypto
import DeviceLab
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// Interrupted restores: short forms of bugs that the simulation found.
@Suite("Restores")
struct RestoreTests {
    /// Hands the loop a test's script, in order; a restore reads `topic` from its beginning.
    private final class ScriptedStreams: RequestSource {
        enum Answer { case change(MemoryMember.Change), fault, damaged(PartitionDamage) }

        private var polls: [MemoryMember.Change]
        private var restores: [Answer?]
        private var beginFaults: Int
        private var topic: [StoredRecord]
        private let newTopic: [StoredRecord]?
        private var next = 0
        private var dropped: Set<Int32> = []
        var kept: [Set<Int32>] { memory.kept }
        let memory = MemoryMember()
        /// After so many records partition 0 is complete; nil = with all of them.
        var wholeFirst: Int?
        private var idlePolls = 0

        /// - Parameters:
        ///   - restores: the first calls' answers; nil = a record.
        ///   - beginFaults: how often a restore cannot be begun.
        ///   - newTopic: the topic's content once a ledger was kept; the known records were deleted.
        init(
            polls: [MemoryMember.Change] = [.assigned([0])],
            restores: [Answer?] = [],
            beginFaults: Int = 0,
            topic: [StoredRecord] = RestoreTests.topic,
            newTopic: [StoredRecord]? = nil
        ) {
            (self.polls, self.restores, self.beginFaults, self.topic) = (polls, restores, beginFaults, topic)
            self.newTopic = newTopic
            memory.restoring = { [unowned self] _, kept in try begin(kept) }
            memory.reading = { [unowned self] _ in try read() }
        }

        func poll(_ limits: BatchLimits, waitMilliseconds: Int) -> PollRound {
            var round = PollRound()
            guard !polls.isEmpty else {
                // Not before the lanes have brought everything back.
                if wholeFirst != nil, next >= topic.count { idlePolls += 1 }
                round.ended = wholeFirst == nil || idlePolls > 50
                return round
            }
            round.events = [memory.event(polls.removeFirst())]
            return round
        }

        private func begin(_ kept: Set<Int32>) throws {
            next = 0
            guard beginFaults == 0 else {
                beginFaults -= 1
                throw SimulatedFault(.retriable)
            }
            guard let newTopic, !kept.isEmpty else { return }
            topic = newTopic
            dropped = kept
        }

        private func read() throws -> [PartitionEvent] {
            if !restores.isEmpty, let answer = restores.removeFirst() {
                switch answer {
                case .damaged(let damage): return [memory.hold(damage.partition, damage.sentence)]
                case .change(let change): return [memory.event(change)]
                case .fault: throw SimulatedFault(.abortable)
                }
            }
            if !dropped.isEmpty {
                defer { dropped = [] }
                return dropped.sorted().map { .ledgerDropped($0) }
            }
            // The rest of the topic is read once partition 0 has started.
            if next == wholeFirst, memory.starts.isEmpty { return [] }
            // More in each restore than in the one before: chunks of the same number differ.
            let end = min(topic.count, next + kept.count)
            let records = StoredRecords(topic[next..<end])
            next = end
            let events = [PartitionEvent.ledger(records, left: Int64(topic.count - end))]
            if next >= topic.count { return events + memory.allGiven }
            return next == wholeFirst && memory.starts.isEmpty ? events + [.ledgerGiven(0)] : events
        }

        var member: (any GroupMember)? { memory }

        /// As after an abort that leaves open what was committed.
        func assignAgain() { restores.insert(.change(.assigned([0])), at: 0) }
    }

    private static func key(_ number: UInt32) -> KeyID { KeyID(SHA256.hash([UInt8(truncatingIfNeeded: number)])) }

    private static let topic = (1...6 as ClosedRange<UInt32>).map { number in
        let (key, value) = LedgerCodec.encode(.key(key(number), .sample(counter: number)))
        return StoredRecord(partition: 0, key: key, value: value)
    }

    private static func run(
        _ streams: ScriptedStreams,
        seed: UInt64,
        isUnknown: Bool = true,
        notice: @escaping @Sendable (any SourceFault) -> Void = { _ in }
    ) throws -> BatchLoop {
        let transaction = MemoryTransaction()
        if isUnknown { transaction.rewind = { streams.assignAgain() } }
        let roles = StreamRoles(source: streams, transaction: transaction, hasLedgers: true)
        let rig = try TrafficLoop(roles, seed: seed, wallClock: { RequestRecords.now }, notice: notice)
        #expect(try rig.run(steps: 10_000))
        return rig.loop
    }

    private static func expectWhole(_ loop: BatchLoop) {
        for number in 1...6 as ClosedRange<UInt32> {
            #expect(loop.ledgers[0]?.keys[key(number)]?.counter == number)
        }
    }

    @Test func `a restarted restore keeps no ledger of the failed one`() throws {
        let streams = ScriptedStreams(beginFaults: 2)
        Self.expectWhole(try Self.run(streams, seed: 1))
        #expect(streams.kept == [[], [], []])
    }

    @Test(
        arguments: 1...40 as ClosedRange<UInt64>
    )
    func `a lane's chunks of an interrupted restore do not enter the next one`(seed: UInt64) throws {
        let streams = ScriptedStreams(
            polls: [.assigned([0]), .assigned([0])],
            restores: [nil, nil, nil, .change(.revoked([0]))]
        )
        Self.expectWhole(try Self.run(streams, seed: seed))
        #expect(streams.kept == [[], []], "a partial restore is not kept")
    }

    @Test(arguments: [true, false])
    func `a kept ledger ahead of the topic is dropped and restored from the topic`(isGivenAway: Bool) throws {
        let streams = ScriptedStreams(
            polls: (isGivenAway ? [.assigned([0]), .revoked([0])] : [.assigned([0])]) + [.assigned([0])],
            newTopic: [Self.topic[3]]
        )
        let loop = try Self.run(streams, seed: 1)
        #expect(streams.kept == [[], [0]])
        #expect(loop.ledgers[0]?.keys.count == 1)
        #expect(loop.ledgers[0]?.keys[Self.key(4)]?.counter == 4)
    }

    @Test(
        arguments: 1...20 as ClosedRange<UInt64>
    )
    func `what is read of a partition that has started does not take its counters back`(seed: UInt64) throws {
        let (key, value) = LedgerCodec.encode(.key(Self.key(6), .sample(counter: 3)))
        let streams = ScriptedStreams(
            polls: [.assigned([0, 1])],
            topic: Self.topic + [StoredRecord(partition: 0, key: key, value: value)]
        )
        streams.wholeFirst = Self.topic.count
        let loop = try Self.run(streams, seed: seed)
        #expect(streams.memory.starts.first == 0)
        Self.expectWhole(loop)
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `a restore starts over where it is unknown what was committed, and goes on after any other abort`(
        seed: UInt64
    ) throws {
        for (isUnknown, kept) in [(true, [[], []]), (false, [[]])] as [(Bool, [Set<Int32>])] {
            let streams = ScriptedStreams(restores: [nil, nil, .fault])
            Self.expectWhole(try Self.run(streams, seed: seed, isUnknown: isUnknown))
            #expect(streams.kept == kept)
        }
    }

    @Test func `an unreadable record holds its partition, and the message names the record and the remedy`() throws {
        let bad = StoredRecord(partition: 0, key: [4], value: [0xA1, 0, 2])
        let streams = ScriptedStreams(polls: [.assigned([0, 1])], topic: Self.topic + [bad])
        let loop = try Self.run(streams, seed: 1)
        #expect(loop.held.keys.sorted() == [0])
        let sentence = try #require(loop.held[0])
        for part in ["partition 0", "schema version 2", "attest-worker reset --config DIR --partitions 0"] {
            #expect(sentence.contains(part), "\(sentence)")
        }
        #expect(streams.memory.holds.keys.sorted() == [0] && streams.memory.starts == [1], "the other one is read")
        #expect(loop.ledgers[0] == nil, "nothing is judged by what is not whole")
    }

    @Test func `an unreadable ledger is read from its beginning when its partition is assigned again`() throws {
        let bad = StoredRecord(partition: 0, key: [4], value: [0xA1, 0, 2])
        let streams = ScriptedStreams(
            polls: [.assigned([0]), .revoked([0]), .assigned([0])],
            topic: Self.topic + [bad]
        )
        let loop = try Self.run(streams, seed: 1)
        #expect(streams.kept == [[], []])
        #expect(loop.held.keys.sorted() == [0])
    }

    @Test func `a ledger damaged on disk holds its partition, and everything read from it is discarded`() throws {
        let damage = PartitionDamage(partition: 0, cause: "CRC", isLedger: true)
        let streams = ScriptedStreams(polls: [.assigned([0, 1])], restores: [nil, .damaged(damage), nil])
        let loop = try Self.run(streams, seed: 1)
        #expect(streams.memory.holds.keys.sorted() == [0] && !streams.memory.starts.contains(0))
        #expect(loop.held[0]?.contains("import-keys") == true)
        #expect(loop.ledgers[0] == nil)
    }

    @Test func `an unreadable record does not hold its partition once a readable one replaces it`() throws {
        let good = Self.topic[5]
        let bad = StoredRecord(partition: 0, key: good.key, value: [0xA1, 0, 2])
        let streams = ScriptedStreams(topic: [bad] + Self.topic)
        let loop = try Self.run(streams, seed: 1)
        Self.expectWhole(loop)
        #expect(loop.held.isEmpty)
        // The last one counts, as after a compaction.
        let last = ScriptedStreams(topic: Self.topic + [bad])
        #expect(try Self.run(last, seed: 1).held.keys.sorted() == [0])
    }

    @Test func `what a start reports is counted, and told where it has a sentence`() throws {
        let streams = ScriptedStreams(polls: [.assigned([0]), .assigned([0])])
        let losses: [(Int64, String?)] = [(17, "17 are lost"), (3, "20 are lost"), (0, nil)]
        streams.memory.reports = losses.map { loss, note in
            var report = PartitionStart.Report()
            (report.skippedAtMost, report.deletedAtMost, report.note) = (loss, loss, note)
            return report
        }
        let heard = Notes()
        let loop = try Self.run(streams, seed: 1) { fault in
            if let notice = fault as? PartitionNotice { heard.sentences.append(notice.sentence) }
        }
        #expect(streams.memory.starts == [0, 0])
        #expect(loop.tally.deletedAtMost == 20 && loop.tally.skippedAtMost == 20)
        #expect(heard.sentences == ["17 are lost", "20 are lost"])
    }

    /// The loop's thread is the test's.
    private final class Notes: @unchecked Sendable {
        var sentences: [String] = []
    }
}
