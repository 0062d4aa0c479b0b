import AppAttest
import AppCheck
import Crypto
import DeviceLab
import JSON
import Kafka
import Pipeline
import Settings
import SimulationKit
import Streams
import TestKit
import Testing

@testable import Broker

/// What a ledger remembers, on another number of partitions.
@Suite("A ledger that was moved")
struct MovedLedgerTests {
    struct Step: Sendable, CustomTestStringConvertible {
        let old: Int32
        let new: Int32
        var testDescription: String { "\(old) to \(new)" }
    }

    static let steps = [Step(old: 2, new: 3), Step(old: 2, new: 4), Step(old: 3, new: 2), Step(old: 1, new: 5)]

    /// Requests of every kind that are accepted once, and the worker that has accepted them.
    private struct Used {
        let keys: KeyRings
        let rig: ExchangeRig
        var devices = (0..<6 as Range<UInt64>).map { FakeDevice(ExchangeKit.model, seed: 40 + $0) }
        /// All were accepted.
        var requests: [ExchangeRequest] = []
        var artifacts: [[UInt8]] = []
        var challenges: [[UInt8]] = []

        init(on partitions: Int32) throws {
            keys = try ExchangeKit.keys()
            rig = try MovedLedgerTests.rig(keys, partitions)
            for index in devices.indices { try use(index) }
            let command = OperatorCommand.sample(.ban, .key(devices[5].keyID), at: rig.time, seed: 1)
            try send(.command(command, keys))
            for partition in 0..<partitions {
                let fid = OperatorCommand.Subject.installation(BanID.installation("fid-1"))
                let own = OperatorCommand.sample(.ban, fid, at: rig.time, seed: UInt8(2 + partition), on: partition)
                try send(.command(own, keys))
            }
        }

        private mutating func use(_ index: Int) throws {
            let first = try rig.challenge()
            let attested = try send(.attestation(of: devices[index], challenge: first))
            let artifact = try #require(attested.artifact)
            let second = try rig.challenge()
            let asserted = try send(
                .assertion(of: &devices[index], artifact: artifact, challenge: second, limitedUse: true)
            )
            try send(.verification(of: try #require(asserted.tokenText)))
            artifacts.append(artifact)
            challenges += [first, second]
        }

        @discardableResult
        private mutating func send(_ request: ExchangeRequest) throws -> ExchangeAnswers {
            let answers = try rig.send(MovedLedgerTests.placed(request, rig))
            try #require(answers.verdict == "accepted", "\(answers.summary ?? "")")
            requests.append(request)
            return answers
        }

        /// The same worker's ledger, moved.
        func moved(_ step: Step) throws -> [StoredRecord] {
            let ledger = try MovedLedgerTests.moved(
                rig.streams.ledger.map { (try LedgerCodec.decode(key: $0.key, value: $0.value), $0.partition) },
                step
            )
            #expect(ledger.keyCount == 6 && ledger.conflicts == 0)
            return Array(ledger.records()) + ledger.newMarks([0x67], nil, isWhole: true)
        }
    }

    /// At least once, so that marks are written without a group.
    private static func rig(_ keys: KeyRings, _ partitions: Int32) throws -> ExchangeRig {
        var settings = try ExchangeKit.settings(keys: keys, partitions: partitions)
        settings.partitionOfKey = { Partitioner.murmur2.partition(of: $0, count: partitions) }
        let rig = try ExchangeRig(settings, partitions: partitions)
        rig.streams.isAtomic = false
        return rig
    }

    /// A request where producers put it; a command for each partition stays on one.
    private static func placed(_ request: ExchangeRequest, _ rig: ExchangeRig) -> ExchangeRequest {
        var placed = request
        let count = rig.streams.partitions
        placed.partition =
            request.key.map { Partitioner.murmur2.partition(of: $0, count: count) }
            ?? request.partition.map { $0 % count }
        return placed
    }

    /// The next worker's answers to the same requests under other ids, on these records.
    private static func again(_ used: Used, _ records: [StoredRecord], _ partitions: Int32) throws -> ExchangeRig {
        let rig = try rig(used.keys, partitions)
        // So little later that no challenge has expired, and fresh ones are others.
        rig.time = used.rig.time + 1_000
        for record in records { rig.streams.addLedger(key: record.key, value: record.value, on: record.partition) }
        try rig.restart()
        return rig
    }

    /// Whether a request has had its effect once more.
    private static func isUsedAgain(_ answers: ExchangeAnswers) -> Bool {
        answers.verdict == "accepted" && answers.result?["response"]?["alreadyConsumed"]?.bool != true
    }

    private static func accepted(_ used: Used, _ rig: ExchangeRig) throws -> Int {
        try used.requests.enumerated().reduce(0) { count, request in
            let again = placed(request.element.with(id: "again-\(request.offset)"), rig)
            return count + (isUsedAgain(try rig.send(again)) ? 1 : 0)
        }
    }

    @Test(arguments: steps)
    func `no request that was used is accepted again, and devices go on`(step: Step) throws {
        var used = try Used(on: step.old)
        let rig = try Self.again(used, used.moved(step), step.new)
        #expect(try Self.accepted(used, rig) == 0)
        // A challenge serves a key once, whatever its counter.
        for (number, challenge) in used.challenges.enumerated() where number < 10 {
            var ahead = used.devices[number / 2]
            let request = ExchangeRequest.assertion(
                of: &ahead,
                artifact: used.artifacts[number / 2],
                challenge: challenge
            )
            let old = try rig.send(Self.placed(request, rig))
            #expect(old.reason == "challenge-consumed", "\(old.summary ?? "")")
        }
        for index in used.devices.indices {
            let requests = try (0..<2).map { _ in
                let challenge = try rig.challenge()
                return Self.placed(
                    .assertion(of: &used.devices[index], artifact: used.artifacts[index], challenge: challenge),
                    rig
                )
            }
            #expect(try rig.send(requests[0]).summary == (index == 5 ? "banned" : "accepted"))
            #expect(try rig.send(requests[1].carrying("fid-1")).reason == "banned")
        }
    }

    @Test(arguments: steps)
    func `without a move, on partitions of the same numbers, used requests are accepted again`(step: Step) throws {
        let used = try Used(on: step.old)
        let records = used.rig.streams.ledger.filter { $0.partition < step.new && $0.key != [4] }
        #expect(try Self.accepted(used, Self.again(used, records, step.new)) > 0)
    }

    /// A ledger of these records, moved.
    private static func moved(
        _ changes: [(LedgerChange, Int32)],
        _ step: Step = Step(old: 2, new: 3)
    ) -> MovedLedger {
        var ledger = MovedLedger(KeyHomes(.murmur2, step.old), to: KeyHomes(.murmur2, step.new))
        for (change, partition) in changes { ledger.take(change, of: partition) }
        ledger.join()
        return ledger
    }

    // MARK: One record

    private static let time = EvaluationTime(milliseconds: 1_000)
    private static let used = ConsumedID(expiresAt: EvaluationTime(milliseconds: 2_000), request: SHA256.hash([1]))
    private static let id = SHA256.hash([7])

    private static func home(of id: KeyID, among count: Int32) -> Int32 {
        Partitioner.murmur2.partition(of: id.recordKey, count: count)
    }

    /// The keys that are written, and where.
    private static func keys(_ ledger: MovedLedger) throws -> [(record: KeyRecord, partition: Int32)] {
        try ledger.records().compactMap { record in
            guard case .key(_, let key) = try LedgerCodec.decode(key: record.key, value: record.value) else {
                return nil
            }
            return (key, record.partition)
        }
    }

    private static func mark(_ time: Int64?, partitions: Int32? = 2) -> LedgerChange {
        .mark(PartitionMark(streamTime: time.map { EvaluationTime(milliseconds: $0) }, partitions: partitions))
    }

    /// Where records come to, by their keys; marks are left out.
    private static func places(_ changes: [(LedgerChange, Int32)], _ step: Step) -> [[UInt8]: [Int32]] {
        Dictionary(grouping: moved(changes, step).records(), by: \.key).mapValues { $0.map(\.partition).sorted() }
    }

    @Test(
        arguments: [
            (Step(old: 2, new: 4), [1, 3]), (Step(old: 2, new: 3), [0, 1, 2]), (Step(old: 4, new: 2), [1]),
            (Step(old: 6, new: 4), [1, 3]),
        ] as [(Step, [Int32])]
    )
    func `an id that names no key goes where its requests may come now`(step: Step, places: [Int32]) {
        let marks: [(LedgerChange, Int32)] = (0..<step.old).map { (Self.mark(1_000, partitions: step.old), $0) }
        for change in [LedgerChange.challenge(Self.id, Self.used), .token(Self.id, Self.used)] {
            #expect(Self.places(marks + [(change, 1)], step) == [LedgerCodec.encode(change).key: places])
        }
        // Where the marks do not say how keys were placed, it goes everywhere.
        let unsure = Array(marks.dropLast()) + [(Self.mark(1_000, partitions: nil), step.old - 1)]
        let everywhere = Array(0..<step.new)
        let challenge = LedgerChange.challenge(Self.id, Self.used)
        #expect(Self.places(unsure + [(challenge, 1)], step) == [LedgerCodec.encode(challenge).key: everywhere])
    }

    @Test func `a sealing key in use is in use on every partition`() {
        let change = LedgerChange.sealingKey(7, since: Self.time)
        let places = Self.places([(change, 1), (Self.mark(5_000), 0), (Self.mark(5_000), 1)], Step(old: 2, new: 4))
        #expect(places == [LedgerCodec.encode(change).key: [0, 1, 2, 3]])
    }

    @Test func `an id that has expired on some partition is not moved, and the stream time is the highest`() throws {
        let step = Step(old: 2, new: 3)
        let changes = [(LedgerChange.challenge(Self.id, Self.used), 0), (Self.mark(500), 0)] as [(LedgerChange, Int32)]
        #expect(Self.places(changes + [(Self.mark(2_000), 1)], step).count == 1)
        #expect(Self.places(changes + [(Self.mark(2_001), 1)], step).isEmpty)
        let times = [(500, 0), (2_001, 1), (1_000, 0), (nil, 1)] as [(Int64?, Int32)]
        let ledger = Self.moved(times.map { (Self.mark($0), $1) })
        let last = ledger.newMarks([0x67], nil, isWhole: true)
        #expect(last.map(\.partition) == [0, 1, 2])
        let mark = PartitionMark(
            streamTime: EvaluationTime(milliseconds: 2_001),
            appliedOffset: 0,
            group: [0x67],
            delivery: .transaction,
            partitions: 3
        )
        #expect(Set(last.map(\.value)) == [LedgerCodec.encode(.mark(mark)).value])
        #expect(Set(ledger.newMarks([0x67], nil, isWhole: false).map(\.value)) == [[0xA2, 0, 1, 8, 0]])
    }

    @Test func `a mark that only a move has left says nothing of the work: the move is repeated`() throws {
        var ledger = MovedLedger(KeyHomes(.murmur2, 2), to: KeyHomes(.murmur2, 5))
        ledger.take(.mark(PartitionMark(appliedOffset: 7, group: [0x67], delivery: .transaction, partitions: 2)), of: 0)
        for record in ledger.oldMarks([1]) {
            ledger.take(try LedgerCodec.decode(key: record.key, value: record.value), of: record.partition)
        }
        #expect(ledger.position(of: 0)?.appliedOffset == 7 && ledger.position(of: 1) == nil && ledger.isLeft)
    }

    @Test func `the old marks keep their positions, and say that the keys were moved`() throws {
        var ledger = MovedLedger(KeyHomes(.murmur2, 3), to: KeyHomes(.murmur2, 5))
        var mark = PartitionMark(appliedOffset: 7, group: [0x67], delivery: .transaction, partitions: 2)
        ledger.take(.mark(mark), of: 0)
        ledger.take(.mark(PartitionMark(appliedOffset: 8)), of: 1)
        // Where there was no mark, too: a worker that knows nothing would start there.
        #expect(ledger.oldMarks(nil).map(\.partition) == [0, 1, 2] && !ledger.isLeft)
        let unmarked = StoredRecord(.mark(PartitionMark(partitions: -3)), on: 2)
        #expect(ledger.oldMarks(nil).last == unmarked)
        mark.position.partitions = -2
        #expect(ledger.oldMarks(nil).first { $0.partition == 0 } == StoredRecord(.mark(mark), on: 0))
        let older = PartitionMark(appliedOffset: 8, partitions: -3)
        #expect(ledger.oldMarks(nil).first { $0.partition == 1 } == StoredRecord(.mark(older), on: 1))
        ledger.take(.mark(mark), of: 0)
        ledger.take(.mark(older), of: 1)
        ledger.take(.mark(PartitionMark(partitions: -3)), of: 2)
        #expect(ledger.oldMarks(nil).isEmpty && ledger.isLeft, "they say it already")
        // It was taken back, and went on.
        ledger.take(.mark(PartitionMark(appliedOffset: 9, partitions: 3)), of: 1)
        #expect(!ledger.isLeft)
    }

    @Test func `a ledger is moved by one move, to one other ledger`() {
        var ledger = MovedLedger(KeyHomes(.murmur2, 2), to: KeyHomes(.murmur2, 3))
        ledger.take(.mark(PartitionMark(appliedOffset: 7, partitions: 2)), of: 0)
        #expect(ledger.isLeft(onlyBy: [1]) && ledger.isLeft(onlyBy: nil), "nobody has moved it")
        let mark = PartitionMark(appliedOffset: 7, partitions: -2, move: [1])
        #expect(ledger.oldMarks([1]).first == StoredRecord(.mark(mark), on: 0))
        ledger.take(.mark(mark), of: 0)
        #expect(ledger.isLeft(onlyBy: [1]) && !ledger.isLeft(onlyBy: [2]) && !ledger.isLeft(onlyBy: nil))
        let marks = [false, true].flatMap { ledger.newMarks([0x67], [1], isWhole: $0) }
        let named = marks.map { record -> [UInt8]? in
            guard case .mark(let mark)? = try? LedgerCodec.decode(key: record.key, value: record.value) else {
                return nil
            }
            return mark.position.move
        }
        #expect(named == Array(repeating: [1], count: 6))
    }

    @Test func `a late record behind a higher counter moves nothing back, as in every restore`() throws {
        let (late, high) = (KeySamples.key(1, counter: 9), KeySamples.key(1, counter: 10))
        let home = Self.home(of: high.keyID, among: 2)
        let changes = [high, late].map { LedgerChange.key($0.keyID, KeyTable.record(of: $0, after: nil)) }
        let ledger = Self.moved(changes.map { ($0, home) })
        #expect(try Self.keys(ledger).map(\.record.counter) == [10])
    }

    @Test func `a key's ban goes with it, any other to every partition, and the one that lasts longer counts`() throws {
        let key = KeySamples.key(1, counter: 5)
        let home = Self.home(of: key.keyID, among: 2)
        let own = BanID.key(key.keyID)
        func ban(_ kind: Ban.Kind, until: Int64?, _ offset: Int64? = 3) -> Ban {
            Ban(kind, since: Self.time, until: until.map { EvaluationTime(milliseconds: $0) }, offset: offset)
        }
        let ledger = Self.moved([
            (.key(key.keyID, KeyTable.record(of: key)), home), (.ban(own, ban(.key, until: nil)), home),
            (.ban(Self.id, ban(.installation, until: 5_000)), 0), (.ban(Self.id, ban(.installation, until: 6_000)), 1),
            (.ban(SHA256.hash([8]), ban(.key, until: 9_000)), 1), (.ban(SHA256.hash([9]), ban(.key, until: nil)), 1),
            (.banLifted(SHA256.hash([9])), 1),
        ])
        var found: [Digest: [Int32: Ban]] = [:]
        for record in ledger.records() {
            guard case .ban(let id, let ban) = try LedgerCodec.decode(key: record.key, value: record.value) else {
                continue
            }
            found[id, default: [:]][record.partition] = ban
        }
        #expect(found[own] == [Self.home(of: key.keyID, among: 3): ban(.key, until: nil, nil)])
        let longer = ban(.installation, until: 6_000, nil)
        #expect(found[Self.id] == [0: longer, 1: longer, 2: longer])
        #expect(found[SHA256.hash([8])]?.keys.sorted() == [0, 1, 2])
        #expect(found.count == 3 && ledger.banCount == 3)
    }

    @Test func `a key that lies on two partitions is one key again, with the higher counter`() throws {
        let id = KeySamples.key(1, counter: 5).keyID
        let (two, three) = (Self.home(of: id, among: 2), Self.home(of: id, among: 3))
        let other = three == two ? (three + 1) % 3 : two
        func record(_ counter: UInt32) -> LedgerChange {
            .key(id, KeyTable.record(of: KeySamples.key(1, counter: counter)))
        }
        for (first, second) in [(5, 9), (9, 5)] as [(UInt32, UInt32)] {
            let ledger = Self.moved([(record(first), other), (record(second), three)], Step(old: 3, new: 4))
            let written = try Self.keys(ledger)
            #expect(written.map(\.record.counter) == [9] && written.map(\.partition) == [Self.home(of: id, among: 4)])
            #expect(Array(ledger.records()).count == 1 && ledger.keyCount == 1 && ledger.conflicts == 0)
        }
    }

    @Test(arguments: [(5, 9), (9, 5)] as [(UInt32, UInt32)])
    func `of two records that no rule joins one stays, and opens nothing that the other has used`(
        home: UInt32,
        stray: UInt32
    ) throws {
        let key = KeySamples.key(1, counter: 5)
        let place = Self.home(of: key.keyID, among: 2)
        var other = KeyTable.record(of: KeySamples.key(1, counter: stray))
        other.environment = other.environment == .production ? .development : .production
        let own = KeyTable.record(of: KeySamples.key(1, counter: home))
        let ledger = Self.moved([(.key(key.keyID, own), place), (.key(key.keyID, other), 1 - place)])
        #expect(ledger.conflicts == 1 && ledger.keyCount == 1)
        let kept = try #require(try Self.keys(ledger).first?.record)
        #expect(kept.counter == 9 && kept.environment != other.environment)
    }
}
