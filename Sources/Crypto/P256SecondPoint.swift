internal import CBatchVerify

/// 2¹²⁸ times a P-256 public key: verification with it needs half of the doublings. It is computed here, never received,
/// and kept in memory only, beside the key.
package struct P256SecondPoint: Hashable, Sendable {
    package let x: Digest
    package let y: Digest

    package init(x: Digest, y: Digest) {
        self.x = x
        self.y = y
    }

    /// - Parameter key: on the curve. Of any other point zeros are computed, which no engine accepts.
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
