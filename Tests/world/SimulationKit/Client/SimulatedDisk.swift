internal import Broker
internal import DeviceLab
package import KafkaPorts
package import Pipeline
internal import Streams

/// The disk of a worker's processes, with its copies of ledgers; what a crash leaves of a copy that is being written is the
/// one before. Confined to the test's thread.
package final class SimulatedDisk: LedgerSnapshots, LedgerFiles, @unchecked Sendable {
    /// The clusters and topics of the tests have one name.
    private static let home = SnapshotFormat.home(cluster: "c", topic: "l")

    private var files: [Int32: [UInt8]] = [:]
    /// The versions before.
    private var older: [Int32: [UInt8]] = [:]
    private var pending: (partition: Int32, bytes: [UInt8])?
    private var random: SeededRandom
    private let counts: FaultCounts
    private let now: () -> Int64
    /// Whether the disk is slow, and its faults are.
    package var isRough = true

    package init(seed: UInt64, counts: FaultCounts, now: @escaping () -> Int64) {
        (random, self.counts, self.now) = (SeededRandom(seed: seed), counts, now)
    }

    /// A disk on which this one was copied.
    package func copied(seed: UInt64) -> SimulatedDisk {
        let disk = SimulatedDisk(seed: seed, counts: counts, now: now)
        (disk.files, disk.older) = (files, older)
        return disk
    }

    // MARK: The process

    package var pauseMilliseconds: Int64 { 0 }

    package var isReady: Bool {
        finish()
        return pending == nil
    }

    package func age(of partition: Int32) -> Int64? {
        files[partition].flatMap { SnapshotFormat.head(Array($0.prefix(SnapshotFormat.headBytes))) }
            .map { max(0, now() - $0.takenAt) }
    }

    package func write(_ copy: LedgerCopy, of partition: Int32) -> Bool {
        finish()
        guard pending == nil else { return false }
        var bytes: [UInt8] = []
        let head = SnapshotFormat.Head(home: Self.home, from: copy.from, identity: copy.identity, takenAt: now())
        do { try SnapshotFormat.write(copy, head) { bytes += $0 } } catch { preconditionFailure("memory takes all") }
        pending = (partition, bytes)
        return true
    }

    /// A copy is there a while after it was begun, or never.
    private func finish() {
        guard let (partition, bytes) = pending, !isRough || random.below(3) > 0 else { return }
        older[partition] = files[partition]
        (files[partition], pending) = (bytes, nil)
        counts.add(.snapshotWritten)
    }

    package func open(_ partition: Int32) -> (any LedgerFile)? {
        guard let bytes = files[partition] else { return nil }
        guard let head = SnapshotFormat.head(Array(bytes.prefix(SnapshotFormat.headBytes))), head.home == Self.home
        else {
            discard(partition, "head")
            return nil
        }
        return SimulatedFile(head, bytes, partition, isSlow: isRough, seed: random.next())
    }

    package func discard(_ partition: Int32, _ reason: String) {
        counts.add(.snapshotRefused)
        counts.note("the copy of \(partition) is refused: \(reason)")
        files[partition] = nil
    }

    // MARK: The world

    /// The process has ended: what it was writing is lost, and something may happen to what it has written.
    package func wait() {
        pending = nil
        guard isRough, let partition = files.keys.sorted().randomElement(using: &random) else { return }
        guard let bytes = files[partition] else { return }
        switch random.below(10) {
        case 0 where !bytes.isEmpty:
            files[partition]?[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
            counts.add(.snapshotFlipped)
        case 1:
            files[partition] = Array(bytes.prefix(random.below(bytes.count)))
            counts.add(.snapshotTorn)
        case 2, 3:
            guard let old = older[partition] else { return }
            files[partition] = old
            counts.add(.snapshotOld)
        case 4, 5, 6:
            guard let other = files.keys.filter({ $0 != partition }).min() else { return }
            (files[partition], files[other]) = (files[other], bytes)
            counts.add(.snapshotSwapped)
        default: break
        }
    }
}

private final class SimulatedFile: LedgerFile {
    let from: Int64
    let identity: [UInt8]
    private var blocks: SnapshotBlocks
    private var random: SeededRandom
    private let isSlow: Bool

    init(_ head: SnapshotFormat.Head, _ bytes: [UInt8], _ partition: Int32, isSlow: Bool, seed: UInt64) {
        (from, identity, self.isSlow, random) = (head.from, head.identity, isSlow, SeededRandom(seed: seed))
        var place = SnapshotFormat.headBytes
        blocks = SnapshotBlocks(of: partition) { count in
            defer { place = min(bytes.count, place + count) }
            return Array(bytes[min(place, bytes.count)..<min(bytes.count, place + count)])
        }
    }

    func next(_ records: Int, mayWait: Bool) -> LedgerFilePart {
        isSlow && random.below(3) == 0 ? .reading : blocks.next()
    }
}
