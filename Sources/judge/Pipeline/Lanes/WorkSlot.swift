package import Streams
internal import Synchronization
internal import Threads

/// The records that one thread works on: noted before they are touched, so that a crash or hang is traced to them.
///
/// Written by the working thread, read by any other; a signal handler reads the bare words (``Word``).
@safe package final class WorkSlot: @unchecked Sendable {
    /// The words of a slot: 64-bit integers.
    package enum Word {
        /// `pthread_self()` of the working thread; 0 = none works.
        static let thread = 0
        /// ``WorkStage``.
        static let stage = 1
        /// 1: no other record is in flight.
        static let alone = 2
        /// Grains and long steps begun so far: if a watch sees the same number for long, the thread hangs.
        static let begun = 3
        /// How many records are noted.
        static let count = 4
        /// The record being touched: its index, or −1 for all that are noted.
        static let current = 5
        /// Partition, offset and timestamp of each record.
        static let items = 6
        static let itemWords = 3
    }

    /// A grain has no more records; longer work keeps only the latest.
    package static let mostItems = 64
    package static let wordCount = Word.items + mostItems * Word.itemWords

    // Allocated once, so that the words keep one address for the slot's whole life.
    private let words = UnsafeMutablePointer<Atomic<Int64>>.allocate(capacity: wordCount)
    /// Called on every new thread that works here; set before any does.
    package var onNewThread: (@Sendable () -> Void)?
    private var lastThread: Int64 = 0
    #if DEBUG
        /// Called with each record before it is touched: for tests of crashes. Set before any thread works here.
        package var sabotage: (@Sendable (WorkStage, [WorkItem]) -> Void)?
    #endif

    package init() {
        for index in 0..<Self.wordCount { unsafe (words + index).initialize(to: Atomic(0)) }
    }

    deinit {
        unsafe words.deinitialize(count: Self.wordCount)
        unsafe words.deallocate()
    }

    /// The words, for a handler of crashes: valid as long as the slot lives.
    package var address: UnsafeRawPointer { unsafe UnsafeRawPointer(words) }

    /// Runs `body`, which notes the records that it touches.
    ///
    /// - Parameter alone: no other record is in flight.
    package func during<Result>(_ stage: WorkStage, alone: Bool, _ body: () -> Result) -> Result {
        begin(stage, alone: alone)
        defer { store(0, Word.thread) }
        return body()
    }

    private func begin(_ stage: WorkStage, alone: Bool) {
        store(0, Word.count)
        store(-1, Word.current)
        store(stage.rawValue, Word.stage)
        store(alone ? 1 : 0, Word.alone)
        store(load(Word.begun) &+ 1, Word.begun)
        let thread = OwnThread.number
        if thread != lastThread { onNewThread?() }
        lastThread = thread
        store(thread, Word.thread)
    }

    /// Notes that from here on the thread touches `record` and no other.
    package func note(_ record: borrowing InboundRecord) { note(RecordStamp(record)) }

    /// The same, before it is copied.
    package func note(_ record: RecordStamp) {
        let index = Int(load(Word.count)) % Self.mostItems
        let word = Word.items + index * Word.itemWords
        store(Int64(record.place.partition), word)
        store(record.place.offset, word + 1)
        store(record.timestamp, word + 2)
        store(Int64(index), Word.current)
        store(Int64(index + 1), Word.count)
        #if DEBUG
            sabotaged()
        #endif
    }

    /// Notes that from here on the thread touches all records of the grain together.
    func noteAll() {
        store(-1, Word.current)
        #if DEBUG
            sabotaged()
        #endif
    }

    /// Notes that the thread waits for one more thing, and does not hang.
    func noteStep() { store(load(Word.begun) &+ 1, Word.begun) }

    // A handler on the same thread must see the words in the order of the writes.
    private func store(_ value: Int64, _ word: Int) { unsafe words[word].store(value, ordering: .releasing) }
    private func load(_ word: Int) -> Int64 { unsafe words[word].load(ordering: .acquiring) }

    #if DEBUG
        private func sabotaged() {
            if let sabotage, let work = Work(words: load) { sabotage(work.stage, work.items) }
        }
    #endif
}

// MARK: - Looking on

extension WorkSlot {
    /// The thread's present work; nil where it does none, or has just gone on to another grain.
    package func snapshot() -> Work? {
        let before = load(Word.begun)
        let work = Work(words: load)
        return load(Word.begun) == before ? work : nil
    }
}
