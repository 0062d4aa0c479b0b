import AppAttest
import Crypto
import DeviceLab
import Pipeline
import Settings
import TestKit
import Testing

@testable import Broker

@Suite("An import never weakens what the ledger knows")
struct KeyMergeTests {
    private static func record(_ counter: UInt32, _ change: (inout KeyRecord) -> Void = { _ in }) -> KeyRecord {
        var record = KeyTable.record(of: KeySamples.key(1, counter: counter))
        change(&record)
        return record
    }

    /// As a key is written whose counter is the file's.
    private static func imported(_ record: KeyRecord) -> KeyRecord {
        var record = record
        record.counters = KeyCounters(highest: record.counter, unseen: 255)
        return record
    }

    @Test func `a key that the ledger lacks is written as it is, unusable or not, without its history of counters`() {
        #expect(KeyMerge(Self.record(7), into: nil) == .write(Self.imported(Self.record(7))))
        let unusable = KeyTable.record(of: KeySamples.variety[6])
        #expect(unusable.publicKey == nil && unusable.unusableKey == [4, 1, 2, 3])
        #expect(KeyMerge(unusable, into: nil) == .write(Self.imported(unusable)))
        let open = Self.record(7) { $0.counters = KeyCounters(highest: 7, skipped: 0b11, unseen: 3) }
        #expect(KeyMerge(open, into: nil) == .write(Self.imported(Self.record(7))))
        #expect(KeyMerge(open, into: Self.imported(Self.record(7))) == .unchanged)
    }

    @Test func `a key without a use is used by its import where something older would end it`() {
        let now: UInt32 = 1_790_000_000
        let noting = PartitionMark(
            streamTime: EvaluationTime(seconds: Int64(now)),
            usesSince: EvaluationTime(seconds: 5)
        )
        let silent = PartitionMark(streamTime: EvaluationTime(seconds: Int64(now)))
        var settings = KeySettings()
        settings.expireAfterMilliseconds = 1_000_000
        func used(_ counter: UInt32, _ mark: PartitionMark?, over stored: KeyRecord?) -> UInt32 {
            Self.record(counter).used(by: mark, over: stored, settings).lastUse
        }
        #expect(used(7, nil, over: nil) == 0 && used(7, silent, over: nil) == 0 && used(7, noting, over: nil) == now)
        // Of a key that is known the note stays, but for one that has ended, or that another ledger has moved on.
        let alive = Self.record(7) { $0.lastUse = now - 10 }
        let ended = Self.record(7) { $0.lastUse = 10 }
        #expect(used(7, noting, over: alive) == 0 && used(8, noting, over: alive) == now)
        #expect(used(7, noting, over: ended) == now && used(8, silent, over: ended) == now)
        #expect(used(8, silent, over: Self.record(7)) == 0, "nothing is noted at all")
        let noted = Self.record(7) { $0.lastUse = 5 }
        #expect(noted.used(by: noting, over: nil, settings).lastUse == 5)
        let exchanged = Self.record(7) { $0.lastRequest = Self.request(at: 9) }
        #expect(exchanged.used(by: noting, over: nil, settings).lastUse == 0, "its token says when")
    }

    private static func request(at seconds: UInt32) -> LastRequest {
        LastRequest(id: "r", valueDigest: SHA256.hash([]), issuedAt: seconds, expiresAt: seconds + 1)
    }

    /// Counter, note and token's time of two records; the note of both together.
    @Test(
        arguments: [
            (5, 100, 0, 4, 90, 0, 100), (5, 100, 0, 4, 110, 0, 110), (5, 0, 0, 4, 110, 0, 0),
            (5, 0, 120, 4, 110, 0, 120),
            (5, 0, 100, 4, 110, 0, 110), (5, 0, 120, 4, 0, 110, 0), (5, 0, 0, 5, 110, 0, 0),
        ] as [(UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)]
    )
    func `a use of the newer record that is not noted is older than no note`(
        _ row: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)
    ) {
        func record(_ counter: UInt32, _ lastUse: UInt32, _ issuedAt: UInt32) -> KeyRecord {
            Self.record(counter) {
                ($0.lastUse, $0.lastRequest) = (lastUse, issuedAt == 0 ? nil : Self.request(at: issuedAt))
            }
        }
        let (newer, older) = (record(row.0, row.1, row.2), record(row.3, row.4, row.5))
        var joined = newer
        joined.join(older)
        #expect(joined.lastUse == row.6)
        guard row.0 != row.3 else { return }
        joined = older
        joined.join(newer)
        #expect(joined.lastUse == row.6)
    }

    @Test func `an export leaves out what has ended by its partition's mark`() {
        var settings = KeySettings()
        let mark = PartitionMark(streamTime: EvaluationTime(seconds: 1_000), usesSince: EvaluationTime(seconds: 950))
        func kept(_ seconds: Int64, _ mark: PartitionMark) -> [UInt32] {
            var keys = StoredKeys()
            for (number, lastUse) in [0, 800, 899, 901].enumerated() as EnumeratedSequence<[UInt32]> {
                keys.set(KeyID(SHA256.hash([UInt8(number)])), Self.record(7) { $0.lastUse = lastUse })
            }
            settings.expireAfterMilliseconds = seconds * 1000
            keys.removeEnded(settings, by: mark)
            return keys.ids.compactMap { keys[$0]?.lastUse }.sorted()
        }
        #expect(kept(100, mark) == [0, 901] && kept(0, mark) == [0, 800, 899, 901])
        #expect(kept(20, mark) == [] && kept(100, PartitionMark()) == [0, 800, 899, 901])
    }

    @Test(arguments: [(5, 6, 6), (5, 5, nil), (5, 4, nil), (UInt32.max, 0, nil), (0, 1, 1)])
    func `a counter only rises`(stored: UInt32, imported: UInt32, written: UInt32?) {
        let merge = KeyMerge(Self.record(imported), into: Self.record(stored))
        #expect(merge == (written.map { .write(Self.imported(Self.record($0))) } ?? .unchanged))
    }

    @Test func `a stored key that conflicts with the import is kept, with a reason`() {
        let stored = Self.record(5) { $0.app = "projects/1/apps/a" }
        #expect(KeyMerge(stored, into: stored) == .unchanged)
        func reason(_ change: (inout KeyRecord) -> Void) -> String? {
            var imported = stored
            imported.counter = 9
            change(&imported)
            guard case .kept(let reason) = KeyMerge(imported, into: stored) else { return nil }
            return reason
        }
        #expect(reason { _ in } == nil)
        #expect(reason { $0.app = nil } == nil)
        #expect(reason { $0.app = "projects/1/apps/b" } == "the ledger has it bound to projects/1/apps/a")
        #expect(reason { $0.appleAppID = "T.x" }?.contains(KeySamples.appleAppID) == true)
        #expect(reason { $0.environment = .development } == "the ledger has it for the environment production")
        let another = "the ledger has another public key for it"
        #expect(reason { $0.publicKey = KeySamples.device(2).publicKey } == another)
        #expect(
            reason {
                $0.publicKey = nil
                $0.unusableKey = [1]
            } == another
        )
    }

    @Test func `the right point replaces an unusable one, other bytes do not`() {
        let stored = Self.record(5) {
            $0.publicKey = nil
            $0.unusableKey = [1]
        }
        #expect(KeyMerge(Self.record(3), into: stored) == .write(Self.record(5)))
        var other = stored
        other.unusableKey = [2]
        #expect(KeyMerge(other, into: stored) == .kept("the ledger has another public key for it"))
    }

    @Test func `an import binds an unbound key to its app, and never unbinds one`() {
        let bound = Self.record(5) { $0.app = "projects/1/apps/a" }
        #expect(KeyMerge(bound, into: Self.record(5)) == .write(bound))
        #expect(KeyMerge(Self.record(5), into: bound) == .unchanged)
    }

    @Test func `of two last requests the one with the higher counter counts, and a missing one is filled in`() {
        func with(_ counter: UInt32, _ id: String?) -> KeyRecord {
            Self.record(counter) {
                $0.lastRequest = id.map {
                    LastRequest(id: ExactText($0), valueDigest: SHA256.hash([]), issuedAt: 1, expiresAt: 2)
                }
                $0.nonce = id.map { SHA256.hash(Array($0.utf8)) }
            }
        }
        #expect(KeyMerge(with(5, "new"), into: with(4, "old")) == .write(Self.imported(with(5, "new"))))
        #expect(KeyMerge(with(5, nil), into: with(4, "old")) == .write(Self.imported(with(5, "old"))))
        #expect(KeyMerge(with(4, "old"), into: with(5, nil)) == .write(with(5, "old")))
        #expect(KeyMerge(with(4, "old"), into: with(5, "new")) == .unchanged)
        #expect(KeyMerge(with(5, "other"), into: with(5, "stored")) == .unchanged)
    }

    @Test func `of two attestations the one issued later counts, with its nonce, whatever the counters say`() {
        func with(_ counter: UInt32, _ nonce: UInt8, _ notBefore: Int64?, serial: Int64 = 1) -> KeyRecord {
            Self.record(counter) {
                $0.nonce = SHA256.hash([nonce])
                $0.issued = notBefore.map { IssueTime(notBefore: EvaluationTime(milliseconds: $0), serial: serial) }
            }
        }
        let written = KeyMerge.write
        #expect(KeyMerge(with(5, 1, 1000), into: with(5, 2, 2000)) == .unchanged)
        #expect(KeyMerge(with(6, 1, 1000), into: with(5, 2, 2000)) == written(Self.imported(with(6, 2, 2000))))
        #expect(KeyMerge(with(4, 1, 3000), into: with(5, 2, 2000)) == written(with(5, 1, 3000)))
        #expect(KeyMerge(with(5, 1, 2000, serial: 2), into: with(5, 2, 2000)) == written(with(5, 1, 2000, serial: 2)))
        // A file of an earlier version takes nothing away, and the first that says it fills it in.
        #expect(KeyMerge(with(5, 2, nil), into: with(5, 2, 2000)) == .unchanged)
        #expect(KeyMerge(with(5, 2, 2000), into: with(5, 2, nil)) == written(with(5, 2, 2000)))
    }

    @Test func `of two risk metrics the one of the later receipt counts, whatever the counters say`() {
        func with(_ counter: UInt32, _ createdAt: UInt32?) -> KeyRecord {
            Self.record(counter) { $0.risk = createdAt.map { RiskMetric(UInt16($0 / 100), createdAt: $0) } }
        }
        #expect(KeyMerge(with(5, 100), into: with(5, 200)) == .unchanged)
        #expect(KeyMerge(with(5, nil), into: with(5, 200)) == .unchanged)
        #expect(KeyMerge(with(6, 100), into: with(5, 200)) == .write(Self.imported(with(6, 200))))
        #expect(KeyMerge(with(4, 300), into: with(5, 200)) == .write(with(5, 300)))
        #expect(KeyMerge(with(5, 300), into: with(5, nil)) == .write(with(5, 300)))
    }

    @Test func `of the counters that a key has skipped, those stay that neither record has used`() {
        func with(_ counter: UInt32, _ skipped: [UInt32]) -> KeyRecord {
            Self.record(counter) { $0.counters = KeyCounters(highest: counter, skipped: skipped) ?? $0.counters }
        }
        #expect(KeyMerge(with(9, [8, 7]), into: with(9, [7])) == .unchanged)
        #expect(KeyMerge(with(9, [8]), into: with(9, [8, 7])) == .write(with(9, [8])))
        #expect(KeyMerge(with(7, [5]), into: with(9, [8, 5, 3])) == .write(with(9, [8, 5])))
        #expect(KeyMerge(with(9, [8, 5]), into: with(7, [5, 3])) == .write(Self.imported(with(9, []))))
        #expect(KeyMerge(with(9, []), into: with(9, [7])) == .write(with(9, [])))
    }

    /// In milliseconds; nil = no end, and nothing written.
    @Test(
        arguments: [
            (nil, nil, false), (nil, 90, false), (90, nil, true), (90, 91, true), (91, 90, false), (90, 90, false),
        ] as [(Int64?, Int64?, Bool)]
    )
    func `of a line's ban and the ledger's the one that lasts longer counts`(
        stored: Int64?,
        line: Int64?,
        isWritten: Bool
    ) {
        func ban(_ since: Int64, _ until: Int64?) -> Ban {
            Ban(.key, since: EvaluationTime(seconds: since), until: until.map { EvaluationTime(seconds: $0) })
        }
        var own = ban(40, stored)
        own.offset = 7
        var longer = ban(40, line)
        if stored == line { longer = own }
        #expect(own.joined(withLine: ban(41, line)) == (isWritten ? longer : nil))
        let earlier = own.joined(withLine: ban(39, line))
        #expect(earlier?.since == EvaluationTime(seconds: 39))
        #expect(earlier?.until == (isWritten ? longer : own).until)
    }

    @Test func `a ban that was exported to the second adds nothing when it comes back`() {
        let own = Ban(
            .key,
            since: EvaluationTime(milliseconds: 1_001),
            until: EvaluationTime(milliseconds: 9_001),
            offset: 3
        )
        let line = ImportedKey(KeySamples.key(1).keyID, Self.record(1), ban: own)
        #expect(line.bannedSince == 1 && line.bannedUntil == 10)
        #expect(line.ban.map { own.joined(withLine: $0) } == .some(nil))
    }

    @Test func `fields that only the ledger has stay, and a second import changes nothing`() {
        let stored = Self.record(5) {
            $0.registeredAt = EvaluationTime(milliseconds: 1_790_000_000_000)
            $0.validationCategory = 4
        }
        guard case .write(let merged) = KeyMerge(Self.record(8), into: stored) else {
            Issue.record("a higher counter is written")
            return
        }
        #expect(merged.registeredAt == stored.registeredAt && merged.validationCategory == 4 && merged.counter == 8)
        #expect(KeyMerge(Self.record(8), into: merged) == .unchanged)
    }
}

@Suite("Conversion between KEYS lines and ledger records")
struct KeyTableTests {
    /// Through the bytes of the ledger topic.
    private func throughTopic(_ key: ImportedKey) throws -> KeyRecord? {
        let (bytes, value) = LedgerCodec.encode(.key(key.keyID, KeyTable.record(of: key)))
        guard case .key(key.keyID, let record) = try LedgerCodec.decode(key: bytes, value: value) else { return nil }
        return record
    }

    @Test(arguments: KeySamples.variety.indices)
    func `a line of any kind survives a round trip`(_ index: Int) throws {
        let key = KeySamples.variety[index]
        let record = try #require(try throughTopic(key))
        #expect(ImportedKey(key.keyID, record) == key)
        var keys = StoredKeys()
        keys.set(key.keyID, record)
        #expect(keys[key.keyID] == record)
        keys.remove(key.keyID)
        #expect(keys[key.keyID] == nil && keys.ids.isEmpty)
    }

    @Test(arguments: [0, 1, 63, 64, 65, 66])
    func `bytes that are not a point never become one, whatever their count`(_ count: Int) throws {
        var key = KeySamples.key(1)
        // X ‖ Y without its 04 is the spelling that the ledger itself uses for points that were checked.
        key.publicKeyBytes = Array((KeySamples.device(2).publicKey.x963.dropFirst() + [1, 2]).prefix(count))
        let record = try #require(try throughTopic(key))
        #expect(record.publicKey == nil)
        #expect(record == KeyTable.record(of: key))
    }

    @Test(arguments: ["accepted", "refused", "Accepted", "deferred"])
    func `only an accepted request is remembered`(_ verdict: String) {
        var key = KeySamples.key(1)
        key.lastRequest = KeySamples.request("r", issuedAt: 10, expiresAt: 20)
        key.lastRequest?.verdict = verdict
        let expected = LastRequest(id: "r", valueDigest: SHA256.hash(Array("r".utf8)), issuedAt: 10, expiresAt: 20)
        #expect(KeyTable.record(of: key).lastRequest == (verdict == "accepted" ? expected : nil))
    }

    @Test func `key records are deleted last`() {
        var live = LiveLedgerKeys()
        let digest = SHA256.hash([1]).bytes
        let all =
            [[1] + digest, [2] + digest, [3] + digest, [4], [5, 0x41], [6, 0, 0, 0, 1], [9, 9, 9]] as [[UInt8]]
        for key in all { live.note(key, isLive: true) }
        live.note([2] + SHA256.hash([2]).bytes, isLive: true)
        live.note([2] + SHA256.hash([2]).bytes, isLive: false)
        live.note([4], isLive: false)
        live.note([4], isLive: true)
        let listed = Array(live.iterator())
        #expect(Set(listed) == Set(all) && listed.count == all.count && live.count == all.count)
        #expect(listed.last == all[0])
    }
}
