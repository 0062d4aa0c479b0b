internal import CBatchVerify

/// Up to 64 P-256 signatures in the arrays that the batch code reads, and its scratch. Reused by one lane: nothing here
/// allocates after the initialiser.
@safe final class P256Group {
    static let most = CBV_MOST

    /// The first word of each array; an array has a number for every signature.
    private enum Start {
        static let x = 0
        static let y = x + 4 * most
        static let second = y + 4 * most
        static let digest = second + 8 * most
        static let r = digest + 4 * most
        static let s = r + 4 * most
        static let end = s + 4 * most
    }

    private let numbers = Numbers(count: Start.end)
    /// The keys whose second point is not known: x, y, and the second points once they are computed.
    private let lacking = Numbers(count: 16 * most)
    /// The places of these keys in the group.
    private var lackingPlaces: [Int] = []
    private let verdicts = AlignedMemory(byteCount: most)
    private let scratch: AlignedMemory
    private(set) var count = 0

    init() {
        BatchArithmetic.prepareP256()
        scratch = AlignedMemory(byteCount: cbv_p256_scratch_bytes())
        lackingPlaces.reserveCapacity(Self.most)
    }

    func removeAll() {
        count = 0
        lackingPlaces.removeAll(keepingCapacity: true)
    }

    /// - Precondition: the group has room.
    func append(_ key: P256PublicKey, _ second: P256SecondPoint?, _ digest: Digest, _ signature: P256Signature) {
        precondition(count < Self.most, "a group has room")
        numbers[Start.x + 4 * count] = key.x
        numbers[Start.y + 4 * count] = key.y
        numbers[Start.digest + 4 * count] = digest
        numbers[Start.r + 4 * count] = signature.r
        numbers[Start.s + 4 * count] = signature.s
        if let second { set(second, at: count) } else { addLacking(key) }
        count += 1
    }

    private func addLacking(_ key: P256PublicKey) {
        let place = lackingPlaces.count
        lacking[4 * place] = key.x
        lacking[4 * Self.most + 4 * place] = key.y
        lackingPlaces.append(count)
    }

    private func set(_ second: P256SecondPoint, at place: Int) {
        numbers[Start.second + 8 * place] = second.x
        numbers[Start.second + 8 * place + 4] = second.y
    }

    /// Computes the second points that are not known and calls `body` with each and its place.
    func computeSeconds(by arithmetic: BatchArithmetic, _ body: (_ place: Int, P256SecondPoint) -> Void) {
        let n = lackingPlaces.count
        guard n > 0 else { return }
        // x, y and the result are arrays of `most` numbers each, of which n are read or written.
        unsafe lacking.withWords { words in
            let (x, y, second) = unsafe (words, words + 4 * Self.most, words + 8 * Self.most)
            switch arithmetic.suited(to: n) {
            case .ifma: unsafe cbv_p256_second_ifma(n, x, y, second, scratch.pointer)
            case .portable: unsafe cbv_p256_second_portable(n, x, y, second, scratch.pointer)
            }
        }
        for (index, place) in lackingPlaces.enumerated() {
            let first = 8 * Self.most + 8 * index
            let second = P256SecondPoint(x: lacking[first], y: lacking[first + 4])
            set(second, at: place)
            body(place, second)
        }
        lackingPlaces.removeAll(keepingCapacity: true)
    }

    /// Verifies the signatures, whose second points must all be known, and calls `body` with each verdict.
    func verify(by arithmetic: BatchArithmetic, _ body: (_ place: Int, BatchVerdict) -> Void) {
        precondition(lackingPlaces.isEmpty, "every key has its second point")
        guard count > 0 else { return }
        // Each array has `most` numbers, of which `count` are read; as many bytes of the verdicts are written.
        unsafe numbers.withWords { words in
            let (x, y, second) = unsafe (words + Start.x, words + Start.y, words + Start.second)
            let (digest, r, s) = unsafe (words + Start.digest, words + Start.r, words + Start.s)
            let (verdict, scratch) = unsafe (verdicts.bytes, scratch.pointer)
            switch arithmetic.suited(to: count) {
            case .ifma: unsafe cbv_p256_verify_ifma(count, x, y, second, digest, r, s, verdict, scratch)
            case .portable: unsafe cbv_p256_verify_portable(count, x, y, second, digest, r, s, verdict, scratch)
            }
        }
        for place in 0..<count { body(place, BatchVerdict(verdicts[place])) }
    }
}

extension P256SecondPoint {
    /// - Parameter key: on the curve. Any other point gives zeros, which no engine accepts.
    package init(of key: P256PublicKey) {
        BatchArithmetic.prepareP256()
        let numbers = Numbers(count: 16)
        let scratch = AlignedMemory(byteCount: cbv_p256_scratch_bytes())
        numbers[0] = key.x
        numbers[4] = key.y
        // x, y and the result are 4, 4 and 8 of the 16 words.
        unsafe numbers.withWords { unsafe cbv_p256_second_portable(1, $0, $0 + 4, $0 + 8, scratch.pointer) }
        self.init(x: numbers[8], y: numbers[12])
    }
}
