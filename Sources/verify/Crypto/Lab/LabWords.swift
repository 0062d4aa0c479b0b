internal import CBatchVerify

/// Numbers of one curve, each as many words, the most significant first: as the C side has them.
struct LabWords {
    let curve: LabCurve
    private(set) var words: [UInt64] = []

    init(_ curve: LabCurve, capacity: Int) {
        self.curve = curve
        words.reserveCapacity(capacity * curve.wordCount)
    }

    /// So many zeros.
    init(_ curve: LabCurve, zeros count: Int) {
        self.curve = curve
        words = [UInt64](repeating: 0, count: count * curve.wordCount)
    }

    var count: Int { words.count / curve.wordCount }

    /// Appends a big-endian number of no more bytes than the curve's.
    mutating func append(_ bytes: [UInt8]) {
        precondition(bytes.count <= curve.byteCount, "the number is no longer than the curve's")
        let bytes = bytes.span
        // Where the next word ends, counted from the number's end.
        for end in stride(from: curve.byteCount - 8, through: 0, by: -8) {
            var word: UInt64 = 0
            for place in max(0, bytes.count - end - 8)..<max(0, bytes.count - end) {
                word = word << 8 | UInt64(bytes[place])
            }
            words.append(word)
        }
    }

    mutating func append(_ digest: Digest) {
        let (first, second, third, fourth) = digest.words
        words.append(first)
        words.append(second)
        words.append(third)
        words.append(fourth)
    }

    /// Appends the number that is hashed from a text.
    mutating func append(hashOf prefix: LabScalarPrefix, _ text: [UInt8]) {
        append(SHA256.hash(prefix.first.span, text.span))
        guard curve == .p384 else { return }
        let (first, second, _, _) = SHA256.hash(prefix.second.span, text.span).words
        words.append(first)
        words.append(second)
    }

    /// Makes each number one from 1 to below the order.
    mutating func reduce() {
        let (curve, count) = (curve, count)
        // As many numbers as the array holds are read and written.
        unsafe withMutableWords { words in
            switch curve {
            case .p256: unsafe cbv_lab_p256_reduce(count, words)
            case .p384: unsafe cbv_lab_p384_reduce(count, words)
            }
        }
    }

    /// The number at a place, big-endian.
    func bytes(at place: Int) -> [UInt8] {
        [UInt8](capacity: curve.byteCount) { append(place * curve.wordCount, curve.wordCount, to: &$0) }
    }

    /// The point at a place, in X9.63 uncompressed form; each two numbers are x and y of a point.
    func x963(at place: Int) -> [UInt8] {
        [UInt8](capacity: 2 * curve.byteCount + 1) { output in
            output.append(4)
            append(2 * place * curve.wordCount, 2 * curve.wordCount, to: &output)
        }
    }

    private func append(_ start: Int, _ count: Int, to output: inout OutputSpan<UInt8>) {
        for word in words[start..<start + count] {
            for shift in stride(from: 56, through: 0, by: -8) {
                output.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
    }

    /// Whether the number at a place is 0.
    func isZero(at place: Int) -> Bool {
        words[place * curve.wordCount..<(place + 1) * curve.wordCount].allSatisfy { $0 == 0 }
    }

    /// Lends all words to `body`.
    func withWords<Result>(_ body: (UnsafePointer<UInt64>) -> Result) -> Result {
        // The array lives as long as the call, and a batch is never empty.
        unsafe words.withUnsafeBufferPointer { words in
            guard let start = words.baseAddress else { preconditionFailure("a batch has numbers") }
            return unsafe body(start)
        }
    }

    /// Lends all words to `body`, which may change them.
    mutating func withMutableWords<Result>(_ body: (UnsafeMutablePointer<UInt64>) -> Result) -> Result {
        // As above; nobody else has the array.
        unsafe words.withUnsafeMutableBufferPointer { words in
            guard let start = words.baseAddress else { preconditionFailure("a batch has numbers") }
            return unsafe body(start)
        }
    }
}

/// The prefix of the text that a lab's scalar is hashed from; a long scalar takes two hashes.
struct LabScalarPrefix {
    static let key = LabScalarPrefix(Array("lab key".utf8))
    static let nonce = LabScalarPrefix(Array("lab nonce".utf8) + [0])

    let first: [UInt8]
    let second: [UInt8]

    private init(_ text: [UInt8]) { (first, second) = ([1] + text, [2] + text) }
}
