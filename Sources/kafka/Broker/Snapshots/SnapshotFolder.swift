internal import Dispatch
internal import Glibc
package import KafkaPorts
package import Pipeline
internal import Settings
internal import Threads

/// Copies of the ledgers of one process in files, one for each partition. Its loops share it: one copy is written at a
/// time, on a thread of its own.
package final class SnapshotFolder: LedgerSnapshots, Sendable {
    package struct Rules: Sendable {
        package var folder: String
        /// See ``SnapshotFormat/home(cluster:topic:)``.
        package var home: [UInt8]
        package var bytesPerSecond: Int
        /// A file that is older than this, by the wall clock, has missed tombstones that compaction has taken.
        package var mostMilliseconds: Int64
        package var wallClock: @Sendable () -> Int64
        /// Called with news for an operator, on any thread.
        package var tell: @Sendable (SnapshotNotice) -> Void

        package init(
            folder: String,
            home: [UInt8],
            bytesPerSecond: Int,
            mostMilliseconds: Int64,
            wallClock: @escaping @Sendable () -> Int64,
            tell: @escaping @Sendable (SnapshotNotice) -> Void
        ) {
            (self.folder, self.home, self.bytesPerSecond) = (folder, home, bytesPerSecond)
            (self.mostMilliseconds, self.wallClock, self.tell) = (mostMilliseconds, wallClock, tell)
        }
    }

    private struct State {
        var isWriting = false
        /// The end of the pause that follows a failure.
        var pausedUntil: Int64 = 0
        var reports: [Int32: SnapshotReport] = [:]
        /// Partitions whose file does not count, whether it could be deleted or not.
        var discarded: Set<Int32> = []
    }

    /// The pause after a file could not be written.
    private static let pauseMilliseconds: Int64 = 10 * 60_000

    private let rules: Rules
    private let queue = DispatchQueue(owner: "snapshots", qos: .utility)
    private let state = Locked(State())

    package init(_ rules: Rules) { self.rules = rules }

    private func path(of partition: Int32) -> String { "\(rules.folder)/ledger-\(partition).snapshot" }

    /// The last copy of each partition that this process has written or read.
    package var reports: [Int32: SnapshotReport] { state.withLock { $0.reports } }

    // MARK: Writing

    /// A partition's copies are so far apart: in a small ledger a twentieth changes within seconds.
    package var pauseMilliseconds: Int64 { 10 * 60_000 }

    package var isReady: Bool {
        let now = rules.wallClock()
        // A clock that was set back makes no pause longer.
        return state.withLock { !$0.isWriting && !($0.pausedUntil - Self.pauseMilliseconds..<$0.pausedUntil ~= now) }
    }

    package func age(of partition: Int32) -> Int64? {
        let now = rules.wallClock()
        return state.withLock { $0.reports[partition] }.map { max(0, now - $0.takenAt) }
    }

    package func write(_ copy: LedgerCopy, of partition: Int32) -> Bool {
        let isFree = state.withLock { state in
            defer { state.isWriting = true }
            return !state.isWriting
        }
        guard isFree else { return false }
        let now = rules.wallClock()
        queue.async { [self] in
            do throws(CommandFault) {
                let bytes = try put(copy, partition, at: now)
                let report = SnapshotReport(takenAt: now, bytes: bytes)
                state.withLock { state in
                    (state.isWriting, state.reports[partition]) = (false, report)
                    state.discarded.remove(partition)
                }
            } catch {
                state.withLock { ($0.isWriting, $0.pausedUntil) = (false, now + Self.pauseMilliseconds) }
                rules.tell(.notWritten(partition, error.sentence))
            }
        }
        return true
    }

    private func put(_ copy: LedgerCopy, _ partition: Int32, at now: Int64) throws(CommandFault) -> Int {
        let file = try StateFile(replacing: path(of: partition))
        let head = SnapshotFormat.Head(home: rules.home, from: copy.from, identity: copy.identity, takenAt: now)
        let (start, speed) = (ContinuousClock.now, Double(rules.bytesPerSecond))
        var bytes = 0
        do {
            try SnapshotFormat.write(copy, head) { piece in
                try file.write(piece)
                bytes += piece.count
                let ahead = Double(bytes) / speed - (ContinuousClock.now - start) / .seconds(1)
                if ahead > 0 { usleep(UInt32(min(ahead, 1) * 1e6)) }
            }
        } catch let fault as CommandFault { throw fault } catch { throw CommandFault("\(error)") }
        try file.finish()
        return bytes
    }
}

// MARK: - Reading

extension SnapshotFolder: LedgerFiles {
    package func open(_ partition: Int32) -> (any LedgerFile)? {
        guard !state.withLock({ $0.discarded.contains(partition) }),
            let (read, size) = StateFile.reader(path(of: partition))
        else { return nil }
        guard let head = (try? read(SnapshotFormat.headBytes)).flatMap({ SnapshotFormat.head($0) }) else {
            discard(partition, "it is damaged, or of another version")
            return nil
        }
        let age = rules.wallClock() - head.takenAt
        guard head.home == rules.home else { return ignored(partition, "it is of another topic or cluster") }
        guard age >= 0, age <= rules.mostMilliseconds else {
            return ignored(partition, "it is too old, or the clock was set: \(age / 60_000) min")
        }
        state.withLock { $0.reports[partition] = SnapshotReport(takenAt: head.takenAt, bytes: size) }
        return ReadAheadFile(head, SnapshotBlocks(of: partition) { try read($0) })
    }

    private func ignored(_ partition: Int32, _ reason: String) -> (any LedgerFile)? {
        rules.tell(.notUsed(partition, reason))
        return nil
    }

    package func discard(_ partition: Int32, _ reason: String) {
        StateFile.remove(path(of: partition))
        state.withLock { _ = $0.discarded.insert(partition) }
        rules.tell(.notUsed(partition, reason))
    }
}

/// A file whose next blocks are read on a thread of its own while the loop takes those before.
private final class ReadAheadFile: LedgerFile {
    private static let blocks = 4
    /// The loop waits so long for a disk at most: it serves its group.
    private static let patience = DispatchTimeInterval.milliseconds(5)

    let from: Int64
    let identity: [UInt8]
    private let source: BlockSource

    init(_ head: SnapshotFormat.Head, _ blocks: SnapshotBlocks) {
        (from, identity) = (head.from, head.identity)
        source = BlockSource(blocks)
        for _ in 0..<Self.blocks { source.ask() }
    }

    func next(_ records: Int, mayWait: Bool) -> LedgerFilePart {
        guard let part = source.take(mayWait ? Self.patience : .nanoseconds(0)) else { return .reading }
        if case .records = part { source.ask() }
        return part
    }
}

private final class BlockSource: @unchecked Sendable {
    private let queue = DispatchQueue(owner: "snapshot-reader", qos: .userInitiated)
    private let ready = DispatchSemaphore(value: 0)
    private let read = Locked<[LedgerFilePart]>([])
    /// The owner of the blocks, once this value is made.
    private var owner = Owner("BlockSource")
    private var blocks: SnapshotBlocks

    init(_ blocks: SnapshotBlocks) { self.blocks = blocks }

    func ask() {
        queue.async {
            self.owner.check()
            let part = self.blocks.next()
            self.read.withLock { $0.append(part) }
            self.ready.signal()
        }
    }

    func take(_ patience: DispatchTimeInterval) -> LedgerFilePart? {
        guard ready.wait(timeout: .now() + patience) == .success else { return nil }
        return read.withLock { $0.removeFirst() }
    }
}
