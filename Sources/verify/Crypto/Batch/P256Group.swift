internal import CBatchVerify

/// Up to 64 P-256 signatures in the arrays that the batch code reads, and its scratch. Reused by one lane: nothing here
/// allocates after the first verification, but for keys that are new.
@safe final class P256Group {
    static let most = CBV_MOST
    /// Words of a key's multiples.
    private static let pointWords = 8 * CBV_P256_POINTS

    /// The first word of each array; an array has a number for every signature.
    private enum Start {
        static let points = 0
        static let digest = points + pointWords * most
        static let r = digest + 4 * most
        static let s = r + 4 * most
        static let end = s + 4 * most
    }

    private let numbers = Numbers(count: Start.end)
    private let cache: KeyPointCache
    /// Whether the memory is for keys whose signatures may all be refused; else only one that verifies keeps its key there.
    private let keepsAll: Bool
    /// The keys whose multiples are not known, each once: x, y, and the multiples once they are computed.
    private let lacking = Numbers(count: (8 + pointWords) * most)
    private var lackingKeys: [P256PublicKey] = []
    /// The places in the group that wait for them, each with its key's index.
    private var waiting: [(place: Int, key: Int)] = []
    private let verdicts = AlignedMemory(byteCount: most)
    /// Made when it is needed: most lanes only ever wait, and all lanes' memory takes 5 ms of a start.
    private lazy var scratch = AlignedMemory(byteCount: cbv_p256_scratch_bytes())
    private(set) var count = 0

    init(_ cache: KeyPointCache, keepsAll: Bool = false) {
        BatchArithmetic.prepareP256()
        (self.cache, self.keepsAll) = (cache, keepsAll)
        lackingKeys.reserveCapacity(Self.most)
        waiting.reserveCapacity(Self.most)
    }

    func removeAll() {
        count = 0
        lackingKeys.removeAll(keepingCapacity: true)
        waiting.removeAll(keepingCapacity: true)
    }

    /// - Precondition: the group has room.
    func append(_ key: P256PublicKey, _ digest: Digest, _ signature: P256Signature) {
        precondition(count < Self.most, "a group has room")
        numbers[Start.digest + 4 * count] = digest
        numbers[Start.r + 4 * count] = signature.r
        numbers[Start.s + 4 * count] = signature.s
        if !cache.copy(key, to: numbers, at: Start.points + Self.pointWords * count) { waitFor(key) }
        count += 1
    }

    private func waitFor(_ key: P256PublicKey) {
        if let known = lackingKeys.firstIndex(of: key) { return waiting.append((count, known)) }
        let index = lackingKeys.count
        lacking[4 * index] = key.x
        lacking[4 * Self.most + 4 * index] = key.y
        lackingKeys.append(key)
        waiting.append((count, index))
    }

    private func computePoints(by arithmetic: BatchArithmetic) {
        let (n, start) = (lackingKeys.count, 8 * Self.most)
        guard n > 0 else { return }
        // x, y and the result are arrays for `most` keys each, of which n are read or written.
        unsafe lacking.withWords { words in
            let (x, y, points) = unsafe (words, words + 4 * Self.most, words + start)
            switch arithmetic.suited(to: n) {
            case .ifma: unsafe cbv_p256_points_ifma(n, x, y, points, scratch.pointer)
            case .portable: unsafe cbv_p256_points_portable(n, x, y, points, scratch.pointer)
            }
        }
        for (place, key) in waiting {
            numbers.copy(
                Self.pointWords,
                at: Start.points + Self.pointWords * place,
                from: lacking,
                at: start + Self.pointWords * key
            )
        }
    }

    private func keepPoints() {
        for (place, key) in waiting where keepsAll || BatchVerdict(verdicts[place]) == .valid {
            cache.insert(lackingKeys[key], from: numbers, at: Start.points + Self.pointWords * place)
        }
    }

    /// Verifies the signatures and calls `body` with each verdict.
    func verify(by arithmetic: BatchArithmetic, _ body: (_ place: Int, BatchVerdict) -> Void) {
        guard count > 0 else { return }
        computePoints(by: arithmetic)
        // Each array has `most` numbers, of which `count` are read; as many bytes of the verdicts are written.
        unsafe numbers.withWords { words in
            let (points, digest) = unsafe (words + Start.points, words + Start.digest)
            let (r, s) = unsafe (words + Start.r, words + Start.s)
            let (verdict, scratch) = unsafe (verdicts.bytes, scratch.pointer)
            switch arithmetic.suited(to: count) {
            case .ifma: unsafe cbv_p256_verify_ifma(count, points, digest, r, s, verdict, scratch)
            case .portable: unsafe cbv_p256_verify_portable(count, points, digest, r, s, verdict, scratch)
            }
        }
        keepPoints()
        for place in 0..<count { body(place, BatchVerdict(verdicts[place])) }
    }
}
