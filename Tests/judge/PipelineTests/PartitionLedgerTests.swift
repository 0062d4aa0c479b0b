import AppAttest
import Crypto
import Pipeline
import Streams
import TestKit
import Testing

@Suite("A partition's ledger")
struct PartitionLedgerTests {
    private static func digest(_ number: Int) -> Digest { SHA256.hash(Array("\(number)".utf8)) }
    private static func time(_ milliseconds: Int64) -> EvaluationTime { EvaluationTime(milliseconds: milliseconds) }

    private static func consumed(_ expiry: Int64, by number: Int = 0) -> ConsumedID {
        ConsumedID(expiresAt: time(expiry), request: digest(number))
    }

    private static func record(_ counter: UInt32) -> KeyRecord {
        let publicKey = P256PublicKey(uncheckedX: digest(1), y: digest(2))
        var record = KeyRecord.sample(publicKey, counter: counter, app: "a", registeredAt: 5)
        record.lastRequest = LastRequest(id: ExactText(String(repeating: "x", count: 60)), valueDigest: digest(3))
        return record
    }

    @Test func `a record of the topic that was delivered late does not lower a counter`() {
        let key = KeyID(Self.digest(7))
        var ledger = PartitionLedger()
        for counter in [5, 9, 6] as [UInt32] { ledger.apply(.key(key, Self.record(counter))) }
        #expect(ledger.keys[key]?.counter == 9)
        #expect(ledger.keys.count == 1)
        ledger.apply(.keyForgotten(key))
        ledger.apply(.key(key, Self.record(2)))
        #expect(ledger.keys[key]?.counter == 2, "a forgotten key starts over")
    }

    @Test func `an id is found until it is removed, and counted once`() {
        var ids = ConsumedIDs()
        ids.insert(Self.digest(1), Self.consumed(100, by: 1))
        ids.insert(Self.digest(1), Self.consumed(100, by: 1))
        ids.insert(Self.digest(2), Self.consumed(200, by: 2))
        #expect(ids.count == 2)
        #expect(ids[Self.digest(1)] == Self.consumed(100, by: 1))
        #expect(ids[Self.digest(3)] == nil)
        ids.remove(Self.digest(1))
        ids.remove(Self.digest(1))
        #expect(ids.count == 1)
        #expect(ids[Self.digest(1)] == nil)
        #expect(ids[Self.digest(2)] != nil)
    }

    @Test func `an id expires when its whole bucket does, never before its own expiry`() {
        var ids = ConsumedIDs()
        ids.insert(Self.digest(1), Self.consumed(9_999))
        ids.insert(Self.digest(2), Self.consumed(10_000))
        ids.insert(Self.digest(3), Self.consumed(29_999))
        #expect(ids.expired(at: Self.time(9_999), limit: 10) == [])
        #expect(ids.expired(at: Self.time(10_000), limit: 10) == [Self.digest(1)])
        #expect(ids.expired(at: Self.time(19_999), limit: 10) == [Self.digest(1)])
        #expect(Set(ids.expired(at: Self.time(30_000), limit: 10)) == Set([1, 2, 3].map(Self.digest)))
        // Returned until they are removed: an abort undoes the forgetting.
        ids.remove(Self.digest(1))
        ids.sweep(before: Self.time(20_000))
        #expect(ids.expired(at: Self.time(20_000), limit: 10) == [Self.digest(2)])
    }

    @Test func `the oldest ids expire first: as many as the limit, and the rest of their bucket`() {
        var ids = ConsumedIDs()
        for number in 0..<30 { ids.insert(Self.digest(number), Self.consumed(Int64(number / 10) * 10_000)) }
        #expect(Set(ids.expired(at: Self.time(.max), limit: 5)) == Set((0..<10).map(Self.digest)))
        #expect(Set(ids.expired(at: Self.time(.max), limit: 10)) == Set((0..<10).map(Self.digest)))
        #expect(ids.expired(at: Self.time(.max), limit: 11).count == 20)
        #expect(ids.expired(at: Self.time(.max), limit: 0) == [])
    }

    @Test func `a removed key is unknown, and can be set again`() {
        var keys = KeyLedger()
        let ids = (0..<3_000).map { KeyID(Self.digest($0)) }
        for (number, id) in ids.enumerated() { keys.set(id, Self.record(UInt32(number))) }
        for id in ids.prefix(2_000) { keys.remove(id) }
        keys.remove(ids[0])
        keys.remove(KeyID(Self.digest(-1)))
        #expect(keys.count == 1_000)
        #expect(keys[ids[0]] == nil)
        #expect(keys.found(ids[0]) == .unknown)
        #expect(keys[ids[2_000]]?.counter == 2_000)
        var seen = 0
        keys.forEach { _, record in
            seen += 1
            #expect(record.counter >= 2_000)
        }
        #expect(seen == 1_000)
        keys.set(ids[0], Self.record(7))
        #expect(keys[ids[0]] == Self.record(7))
        #expect(keys.count == 1_001)
    }

    @Test func `the stream time never goes back, and the last mark counts`() {
        var ledger = PartitionLedger()
        #expect(ledger.mark == nil && ledger.appliedOffset == 0)
        ledger.apply(.mark(PartitionMark(streamTime: Self.time(100), appliedOffset: 10)))
        let older = PartitionMark(streamTime: Self.time(50), appliedOffset: 5)
        ledger.apply(.mark(older))
        #expect(ledger.streamTime == Self.time(100))
        #expect(ledger.mark == older)
        var overlay = PartitionOverlay()
        ledger.apply(overlay)
        #expect(ledger.mark == older, "a batch without a mark leaves it")
        overlay.streamTime = Self.time(99)
        overlay.mark = PartitionMark(appliedOffset: 9, group: [0x67], delivery: .transaction)
        ledger.apply(overlay)
        #expect(ledger.streamTime == Self.time(100))
        #expect(ledger.mark == overlay.mark)
        ledger.apply(.markForgotten)
        #expect(ledger.mark == nil && ledger.streamTime == Self.time(100))
    }

    @Test(
        arguments: [
            (PositionMark.Delivery?.none, Int64(7)), (.atLeastOnce, 7), (.atLeastOnceUncommitted, 7),
            (.transaction, 0),
        ]
    )
    func `requests before the mark are skipped only if no transaction wrote it`(
        delivery: PositionMark.Delivery?,
        first: Int64
    ) {
        var ledger = PartitionLedger()
        ledger.apply(.mark(PartitionMark(appliedOffset: 7, group: [0x67], delivery: delivery)))
        #expect(ledger.appliedOffset == first)
        #expect(PositionMark(group: [0x67], delivery: delivery).skipsBefore == 0)
    }

    @Test func `a ledger is empty until it has an entry besides its mark`() {
        var marked = PartitionLedger()
        marked.apply(.mark(PartitionMark(streamTime: Self.time(1), appliedOffset: 7)))
        #expect(marked.isEmpty)
        let facts: [LedgerChange] = [
            .key(KeyID(Self.digest(1)), Self.record(4)), .challenge(Self.digest(2), Self.consumed(1_000)),
            .token(Self.digest(3), Self.consumed(1_000)), .rate(app: "a", RateCount(start: Self.time(1), count: 2)),
            .sealingKey(9, since: Self.time(3)),
        ]
        for fact in facts {
            var ledger = marked
            ledger.apply(fact)
            #expect(!ledger.isEmpty, "\(fact)")
        }
    }

    /// Everything that one batch may change.
    private static var overlay: LedgerOverlay {
        var overlay = LedgerOverlay()
        overlay[3].keys.set(KeyID(digest(1)), record(4))
        overlay[3].challenges[digest(2)] = consumed(1_000)
        overlay[3].tokens[digest(3)] = consumed(2_000)
        overlay[3].rates["a"] = RateCount(start: time(1), count: 2)
        overlay[3].sealingKeys[9] = time(3)
        overlay[3].expired = [.challengeForgotten(digest(8)), .tokenForgotten(digest(9))]
        overlay[3].streamTime = time(50_000)
        overlay[3].mark = PartitionMark(streamTime: time(50_000), appliedOffset: 77, delivery: .atLeastOnce)
        return overlay
    }

    @Test func `the changes sent to the topic make the same ledger as the batch itself`() throws {
        var before = PartitionLedger()
        before.apply(.challenge(Self.digest(8), Self.consumed(10)))
        before.apply(.token(Self.digest(9), Self.consumed(10)))
        var (memory, topic) = (before, before)
        memory.apply(Self.overlay[3])
        let changes = Self.overlay.changes()
        #expect(changes.allSatisfy { $0.partition == 3 })
        for (_, change) in changes {
            let (key, value) = LedgerCodec.encode(change)
            topic.apply(try LedgerCodec.decode(key: key, value: value))
        }
        for ledger in [memory, topic] {
            #expect(ledger.keys[KeyID(Self.digest(1))] == Self.record(4))
            #expect(ledger.challenges[Self.digest(2)] == Self.consumed(1_000))
            #expect(ledger.challenges[Self.digest(8)] == nil)
            #expect(ledger.tokens[Self.digest(3)] == Self.consumed(2_000))
            #expect(ledger.tokens[Self.digest(9)] == nil)
            #expect(ledger.consumedCount == 2)
            #expect(ledger.rates == ["a": RateCount(start: Self.time(1), count: 2)])
            #expect(ledger.sealingKeys == [9: Self.time(3)])
            #expect(ledger.streamTime == Self.time(50_000))
            #expect(ledger.appliedOffset == 77)
        }
    }

    @Test func `the applied offset is written after every applied change`() {
        let applied = PartitionMark(streamTime: Self.time(50_000), appliedOffset: 77, delivery: .atLeastOnce)
        let mark = LedgerChange.mark(applied)
        let changes = Self.overlay.changes().map(\.change)
        #expect(changes.firstIndex(of: mark) == changes.count - 3)
        #expect(changes.suffix(2) == [.challengeForgotten(Self.digest(8)), .tokenForgotten(Self.digest(9))])
        // In a transaction all changes take effect together.
        var whole = Self.overlay
        whole[3].mark?.position.delivery = .transaction
        #expect(whole.changes().last?.change == whole[3].mark.map { .mark($0) })
        whole[3].mark = nil
        #expect(whole.changes().last?.change == .mark(PartitionMark(streamTime: Self.time(50_000))))
        // Nothing forgotten, nothing applied: the stream time alone is not worth a record.
        var quiet = LedgerOverlay()
        quiet[0].streamTime = Self.time(1)
        #expect(quiet.changes().isEmpty)
    }

    @Test func `without a transaction, nothing is forgotten before its time is written, wherever the topic ends`() {
        let (challenge, token) = (Self.digest(8), Self.digest(9))
        var before = PartitionLedger()
        before.apply(.challenge(challenge, Self.consumed(10)))
        before.apply(.token(token, Self.consumed(10)))
        before.apply(.mark(PartitionMark(streamTime: Self.time(5), appliedOffset: 70)))
        var all = before
        all.apply(Self.overlay[3])
        let changes = Self.overlay.changes().map(\.change)
        for count in 0...changes.count {
            var topic = before
            for change in changes.prefix(count) { topic.apply(change) }
            // An id that is still there comes again with the next batch.
            let expired = topic.expired(at: Self.time(50_000), limit: 10)
            for (isThere, change) in [
                (topic.challenges[challenge] != nil, LedgerChange.challengeForgotten(challenge)),
                (topic.tokens[token] != nil, .tokenForgotten(token)),
            ] {
                #expect(isThere || topic.streamTime >= Self.time(10), "after \(count)")
                #expect(expired.contains(change) == isThere, "after \(count)")
            }
            guard topic.appliedOffset > 70 else { continue }
            #expect(topic.keys[KeyID(Self.digest(1))] == Self.record(4))
            #expect(topic.challenges[Self.digest(2)] != nil && topic.tokens[Self.digest(3)] != nil)
            #expect(topic.rates == all.rates && topic.sealingKeys == all.sealingKeys)
        }
    }

    @Test func `a change can remove a sealing key`() {
        var ledger = PartitionLedger()
        ledger.apply(.sealingKey(1, since: Self.time(1)))
        ledger.apply(.sealingKey(2, since: Self.time(2)))
        ledger.apply(.sealingKeyForgotten(1))
        #expect(ledger.sealingKeys == [2: Self.time(2)])
    }
}
