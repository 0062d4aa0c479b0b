internal import CCrashMark
internal import Glibc
internal import Pipeline
internal import Settings
internal import Streams
internal import Threads

/// Crashes of this process, marked in a mapped file for the next one.
///
/// A lane's slot is ordinary memory; only a crash handler writes to the file, and the loop when a suspect has passed.
@safe final class CrashMarks: @unchecked Sendable {
    /// The records that the loop must treat with care.
    let suspects: CrashSuspects
    /// Records that earlier processes crashed at, a line for each.
    let reports: [String]
    /// The instance's own folder.
    let folder: String
    // Never unmapped: the handler may need them until the process ends.
    private let words: UnsafeMutablePointer<Int64>
    private let places: [WorkItem: Int]
    /// Several loops write.
    private let writing = Locked<Void>(())

    /// Reads the file of an earlier process, and starts a new file for this one.
    ///
    /// - Parameter slots: how many threads may crash.
    /// - Throws: the system's error about the file.
    init(in folder: StateFolder, slots: Int) throws {
        self.folder = folder.path
        let path = folder.path + "/crashes"
        let past = Self.words(of: path).flatMap(CrashFile.past) ?? CrashFile.Past()
        reports = past.crashes.map { Self.line($0.signal, $0.work) }
        let file = CrashFile(slots: slots, suspects: past.suspects)
        let (words, places) = file.written()
        suspects = CrashSuspects(past.suspects.counts.filter { places[$0.key] != nil })
        self.places = places
        // Renamed into place, so that no crash is counted twice and none is lost.
        // The bytes of the words, copied.
        try NewFile.replace(path, unsafe words.withUnsafeBytes { unsafe Array($0) }, mode: 0o600)
        unsafe self.words = try Self.map(path, words.count)
    }

    /// Marks crashes from here on, once per process.
    ///
    /// - Parameter works: the slots, which are never freed from now on.
    func install(_ works: [WorkSlot]) -> Bool {
        var slots: [UnsafePointer<Int64>?] = unsafe []
        for work in works {
            work.onNewThread = { crash_mark_prepare_thread() }
            // Never released; the handler reads the words as they are.
            unsafe _ = Unmanaged.passRetained(work)
            unsafe slots.append(work.address.assumingMemoryBound(to: Int64.self))
        }
        return unsafe crash_mark_install(
            &slots,
            Int32(works.count),
            Int32(WorkSlot.wordCount),
            words + CrashFile.headWords
        ) == 0
    }

    /// Forgets records that were dealt with: they are suspects no more.
    func forget(_ items: [WorkItem]) {
        writing.withLock { _ in
            for item in items {
                // The table's words follow the marks, inside the mapping.
                if let place = places[item] { unsafe words[place] = 0 }
            }
        }
    }

    private static func words(of path: String) -> [Int64]? {
        guard let data = try? WholeFile.read(path, most: 1 << 26), data.count % 8 == 0, data.count < 1 << 26 else {
            return nil
        }
        // As many bytes as the words have.
        return unsafe data.withUnsafeBytes { bytes in
            (0..<bytes.count / 8).map { unsafe bytes.loadUnaligned(fromByteOffset: $0 * 8, as: Int64.self) }
        }
    }

    private static func map(_ path: String, _ count: Int) throws -> UnsafeMutablePointer<Int64> {
        let file = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw CommandFault("\(path): \(POSIXText.describe(errno))") }
        defer { close(file) }
        // The mapping holds the file open; it has as many bytes as were written to it.
        let memory = unsafe mmap(nil, count * 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
            throw CommandFault("\(path): \(POSIXText.describe(errno))")
        }
        return unsafe memory.bindMemory(to: Int64.self, capacity: count)
    }

    private static func line(_ signal: Int, _ work: Work) -> String {
        let places = work.items.prefix(3).map { "partition \($0.place.partition), offset \($0.place.offset)" }
        let more = work.items.count > 3 ? " and \(work.items.count - 3) more" : ""
        let name = unsafe String(cString: strsignal(Int32(clamping: signal)))
        return "an earlier run of this instance crashed (\(name)) while it was \(work.stage) "
            + "\(places.joined(separator: "; "))\(more): from now on the request is processed alone, and after "
            + "\(CrashSuspects.tries) crashes it becomes a dead letter"
    }
}
