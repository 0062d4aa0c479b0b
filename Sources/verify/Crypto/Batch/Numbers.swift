/// Words of 64 bits in memory that C reads: numbers of 32 bytes, each as four words with the most significant first.
@safe struct Numbers: ~Copyable {
    private let memory: AlignedMemory
    private let count: Int

    /// - Parameter count: of words.
    init(count: Int) {
        self.count = count
        memory = AlignedMemory(byteCount: 8 * count)
    }

    /// The number whose first word is `word`.
    subscript(word: Int) -> Digest {
        get {
            precondition(word >= 0 && word <= count - 4, "a number lies inside")
            // The four words are inside, as was just checked.
            return unsafe Digest(words: memory.pointer.load(fromByteOffset: 8 * word, as: Words.self))
        }
        nonmutating set {
            precondition(word >= 0 && word <= count - 4, "a number lies inside")
            // The four words are inside, as was just checked.
            unsafe memory.pointer.storeBytes(of: newValue.words, toByteOffset: 8 * word, as: Words.self)
        }
    }

    func word(_ index: Int) -> UInt64 {
        precondition(index >= 0 && index < count, "a word lies inside")
        // Inside, as was just checked.
        return unsafe memory.pointer.load(fromByteOffset: 8 * index, as: UInt64.self)
    }

    func write(_ words: Span<UInt64>, at index: Int) {
        precondition(index >= 0 && index <= count - words.count, "the words lie inside")
        // As many bytes as there are words, inside, as was just checked.
        unsafe words.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe memory.pointer.advanced(by: 8 * index).copyMemory(from: start, byteCount: bytes.count)
        }
    }

    /// Copies words of another memory.
    func copy(_ words: Int, at index: Int, from other: borrowing Numbers, at start: Int) {
        precondition(
            index >= 0 && index <= count - words && start >= 0 && start <= other.count - words,
            "both lie inside"
        )
        // As many bytes of each, inside, as was just checked.
        unsafe memory.pointer.advanced(by: 8 * index)
            .copyMemory(from: other.memory.pointer.advanced(by: 8 * start), byteCount: 8 * words)
    }

    /// The words, valid inside `body`.
    @unsafe func withWords(_ body: (UnsafeMutablePointer<UInt64>) -> Void) {
        unsafe body(memory.pointer.assumingMemoryBound(to: UInt64.self))
    }

    private typealias Words = (UInt64, UInt64, UInt64, UInt64)
}
