internal import CBatchVerify

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
