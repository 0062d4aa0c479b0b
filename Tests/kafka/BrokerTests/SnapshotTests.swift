import AppAttest
import Crypto
import DeviceLab
import KafkaPorts
import Settings
import Streams
import TestKit
import Testing
import Threads

@testable import Broker
@testable import Pipeline

/// Copies of ledgers in files: nothing is lost, and nothing that is damaged, foreign or too old is taken.
@Suite("Copies of ledgers")
struct SnapshotTests {
    private static let identity = [UInt8](repeating: 7, count: 16)
    private static let home = SnapshotFormat.home(cluster: "a", topic: "ledger")

    private static func ledger(_ keys: Int, seed: UInt64 = 1) -> PartitionLedger {
        var (ledger, random) = (PartitionLedger(), SeededRandom(seed: seed))
        func digest() -> Digest { SHA256.hash(random.bytes(8)) }
        let samples = KeySamples.variety.map { KeyTable.record(of: $0) }
        for number in 0..<keys {
            var record = samples[number % samples.count]
            let point = P256PublicKey(uncheckedX: digest(), y: digest())
            if number % 5 == 0 { (record.publicKey, record.unusableKey) = (nil, []) } else { record.publicKey = point }
            record.lastUse = UInt32(number)
            ledger.apply(.key(KeyID(of: point), record))
        }
        let time = EvaluationTime(milliseconds: 1_000)
        ledger.apply(.challenge(digest(), ConsumedID(expiresAt: time, request: digest())))
        ledger.apply(.token(digest(), ConsumedID(expiresAt: time, request: digest())))
        ledger.apply(.rate(app: "app", RateCount(start: time, count: 3)))
        ledger.apply(.sealingKey(9, since: time))
        ledger.apply(.ban(digest(), Ban(.installation, since: time, until: time)))
        ledger.apply(.mark(PartitionMark(streamTime: time)))
        return ledger
    }

    private static func records(_ ledger: PartitionLedger) -> Set<[UInt8]> {
        var records: Set<[UInt8]> = []
        LedgerCopy(ledger, from: 0, identity: []).forEach {
            let (key, value) = LedgerCodec.encode($0)
            records.insert(key + (value ?? []))
        }
        return records
    }

    private static func bytes(_ ledger: PartitionLedger) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let head = SnapshotFormat.Head(home: home, from: 42, identity: identity, takenAt: 1_000)
        try SnapshotFormat.write(LedgerCopy(ledger, from: 42, identity: identity), head) { bytes += $0 }
        return bytes
    }

    /// - Returns: the ledger that the bytes make; nil if they are refused.
    private static func read(_ bytes: [UInt8]) throws -> PartitionLedger? {
        guard let head = SnapshotFormat.head(Array(bytes.prefix(SnapshotFormat.headBytes))),
            head == SnapshotFormat.Head(home: home, from: 42, identity: identity, takenAt: 1_000)
        else { return nil }
        var (ledger, place) = (PartitionLedger(), SnapshotFormat.headBytes)
        var blocks = SnapshotBlocks(of: 3) { count in
            defer { place = min(bytes.count, place + count) }
            return Array(bytes[place..<min(bytes.count, place + count)])
        }
        while true {
            switch blocks.next() {
            case .records(let records):
                for place in records.places { try ledger.apply(place, records.bytes.span) }
            case .reading: continue
            case .end: return ledger
            case .damaged: return nil
            }
        }
    }

    @Test(arguments: [0, 1, 2_043, 2_048, 5_000])
    func `all that a ledger remembers but its mark is written and read`(keys: Int) throws {
        let ledger = Self.ledger(keys)
        let read = try #require(try Self.read(Self.bytes(ledger)))
        let isSame = Self.records(read) == Self.records(ledger)
        #expect(isSame && read.keys.count == keys)
        #expect(read.mark == nil && read.streamTime.milliseconds == -1, "the topic's tail has the newest mark")
    }

    @Test func `a file with any bit flipped, or cut anywhere, is refused`() throws {
        let bytes = try Self.bytes(Self.ledger(12))
        for place in bytes.indices {
            var flipped = bytes
            flipped[place] ^= 1 << UInt8(place % 8)
            #expect(try Self.read(flipped) == nil, "byte \(place)")
            #expect(try Self.read(Array(bytes[..<place])) == nil, "cut at \(place)")
        }
    }

    // MARK: Files

    private final class Notices: Sendable {
        let said = Locked<[SnapshotNotice]>([])
    }

    private static func folder(
        _ path: String,
        at time: Int64,
        home: [UInt8] = home,
        _ notices: Notices = Notices(),
        clock: (@Sendable () -> Int64)? = nil
    ) -> SnapshotFolder {
        SnapshotFolder(
            SnapshotFolder.Rules(
                folder: path,
                home: home,
                bytesPerSecond: 1 << 30,
                mostMilliseconds: 1_000,
                wallClock: clock ?? { time },
                tell: { notice in notices.said.withLock { $0.append(notice) } }
            )
        )
    }

    private static func written(_ path: String, _ ledger: PartitionLedger, at time: Int64) {
        let folder = folder(path, at: time)
        #expect(folder.isReady && folder.write(LedgerCopy(ledger, from: 42, identity: identity), of: 3))
        #expect(eventually({ folder.isReady }, until: { $0 }))
        #expect(folder.reports[3]?.takenAt == time && folder.reports[3]?.bytes ?? 0 > 100)
    }

    private static func read(_ file: any LedgerFile) throws -> PartitionLedger? {
        var ledger = PartitionLedger()
        while true {
            switch file.next(100, mayWait: true) {
            case .records(let records):
                for place in records.places { try ledger.apply(place, records.bytes.span) }
            case .reading: continue
            case .end: return ledger
            case .damaged: return nil
            }
        }
    }

    @Test func `a file outlives its process, and the next one replaces it`() throws {
        let directory = try ConfigurationDirectory()
        for keys in [10, 5_000] {
            let ledger = Self.ledger(keys)
            Self.written(directory.path, ledger, at: 10_000)
            let file = try #require(Self.folder(directory.path, at: 10_500).open(3))
            #expect(file.from == 42 && file.identity == Self.identity)
            let isSame = try Self.read(file).map(Self.records) == Self.records(ledger)
            #expect(isSame)
        }
        #expect(Self.folder(directory.path, at: 10_500).open(4) == nil)
    }

    @Test(
        arguments: [
            (10_000, nil, true), (11_000, nil, true), (11_001, nil, false), (9_999, nil, false),
            (10_000, "other", false),
        ] as [(Int64, String?, Bool)]
    )
    func `a file of another topic, of another time, or older than tombstones is not used`(
        time: Int64,
        topic: String?,
        counts: Bool
    ) throws {
        let (directory, notices) = (try ConfigurationDirectory(), Notices())
        Self.written(directory.path, Self.ledger(10), at: 10_000)
        let home = topic.map { SnapshotFormat.home(cluster: "a", topic: $0) } ?? Self.home
        #expect((Self.folder(directory.path, at: time, home: home, notices).open(3) != nil) == counts)
        #expect(notices.said.withLock { $0.count } == (counts ? 0 : 1))
    }

    @Test func `damage shows while a file is read, and a file that is discarded is gone`() throws {
        let directory = try ConfigurationDirectory()
        Self.written(directory.path, Self.ledger(5_000), at: 10_000)
        let path = directory.path + "/ledger-3.snapshot"
        var bytes = try WholeFile.read(path, most: 1 << 30)
        bytes[bytes.count / 2] ^= 4
        try directory.write("ledger-3.snapshot", bytes)
        let folder = Self.folder(directory.path, at: 10_000)
        #expect(try Self.read(try #require(folder.open(3))) == nil)
        folder.discard(3, "damaged")
        #expect(folder.open(3) == nil)
    }

    @Test func `what cannot be written is said once, and is tried again after a pause`() throws {
        let notices = Notices()
        let time = Locked<Int64>(10_000_000)
        let folder = Self.folder("/nonexistent", at: 0, notices) { time.withLock { $0 } }
        #expect(folder.write(LedgerCopy(Self.ledger(1), from: 1, identity: Self.identity), of: 3))
        #expect(eventually({ notices.said.withLock { $0.count } }, until: { $0 > 0 }))
        #expect(!folder.isReady && notices.said.withLock { $0.count } == 1)
        for (now, isReady) in [(10_599_999, false), (10_600_000, true), (9_000_000, true)] as [(Int64, Bool)] {
            time.withLock { $0 = now }
            #expect(folder.isReady == isReady, "a clock that was set back makes no pause longer: \(now)")
        }
    }
}
