internal import CBatchVerify

/// Up to 64 P-384 signatures by one key in the arrays that the batch code reads, and its scratch. Reused by one lane:
/// nothing here allocates after the first verification.
@safe package final class P384Group {
    package static let most = CBV_MOST

    /// The first word of each array; an array has a number for every signature.
    private enum Start {
        static let digest = 0
        static let r = digest + P384Number.wordCount * most
        static let s = r + P384Number.wordCount * most
        static let end = s + P384Number.wordCount * most
    }

    private let numbers = Numbers(count: Start.end)
    private let verdicts = AlignedMemory(byteCount: most)
    /// Made when it is needed, as that of ``P256Group``.
    private lazy var scratch = AlignedMemory(byteCount: cbv_p384_scratch_bytes())
    package private(set) var count = 0

    package init() {}

    package func removeAll() { count = 0 }

    /// - Precondition: the group has room.
    /// - Returns: false where `der` is not the strict spelling of two numbers that may be r and s: it is not appended.
    package func append(_ digest: P384Number, _ der: [UInt8]) -> Bool {
        precondition(count < Self.most, "a group has room")
        let bytes = der.span
        guard let parts = DERSignature(bytes, scalarBytes: P384Number.byteCount),
            let r = P384Number(leftPadding: bytes.extracting(parts.r)),
            let s = P384Number(leftPadding: bytes.extracting(parts.s))
        else { return false }
        set(digest, Start.digest)
        set(r, Start.r)
        set(s, Start.s)
        count += 1
        return true
    }

    private func set(_ number: P384Number, _ start: Int) {
        let first = start + P384Number.wordCount * count
        // Six words of the array's 6 · 64, as count is below 64.
        unsafe numbers.withWords { words in
            for index in 0..<P384Number.wordCount { unsafe words[first + index] = number[index] }
        }
    }

    /// Verifies the signatures with the key's table and calls `body` with each verdict.
    package func verify(
        _ key: P384Table,
        by arithmetic: BatchArithmetic,
        _ body: (_ place: Int, BatchVerdict) -> Void
    ) {
        guard count > 0 else { return }
        unsafe P384Table.generator.withPointer { generator in
            unsafe key.withPointer { key in unsafe verify(generator, key, arithmetic.suited(to: count)) }
        }
        for place in 0..<count { body(place, BatchVerdict(verdicts[place])) }
    }

    /// Verifies with the tables of the generator and of the key.
    @unsafe private func verify(
        _ generator: UnsafeRawPointer,
        _ key: UnsafeRawPointer,
        _ arithmetic: BatchArithmetic
    ) {
        // Each array has `most` numbers, of which `count` are read; as many bytes of the verdicts are written.
        unsafe numbers.withWords { words in
            let (digest, r, s) = unsafe (words + Start.digest, words + Start.r, words + Start.s)
            let (verdict, scratch) = unsafe (verdicts.bytes, scratch.pointer)
            switch arithmetic {
            case .ifma: unsafe cbv_p384_verify_ifma(count, generator, key, digest, r, s, verdict, scratch)
            case .portable: unsafe cbv_p384_verify_portable(count, generator, key, digest, r, s, verdict, scratch)
            }
        }
    }
}
