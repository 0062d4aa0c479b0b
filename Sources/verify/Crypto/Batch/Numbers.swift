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

    /// The words, valid inside `body`.
    @unsafe func withWords(_ body: (UnsafeMutablePointer<UInt64>) -> Void) {
        unsafe body(memory.pointer.assumingMemoryBound(to: UInt64.self))
    }

    private typealias Words = (UInt64, UInt64, UInt64, UInt64)
}
