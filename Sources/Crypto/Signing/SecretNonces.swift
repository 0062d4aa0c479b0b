internal import COpenSSL

/// Nonces of ECDSA over P-256: uniform in 1 ..< n from OpenSSL's generator for secrets, wiped when they are done with.
@safe struct SecretNonces: ~Copyable {
    // Owned: made in the initialiser, wiped and freed in deinit.
    private let numbers: [OpaquePointer?]

    init(count: Int) {
        // The order belongs to the curve; OpenSSL draws again until a number is below it.
        let order = unsafe Curve.p256.order
        unsafe numbers = unsafe (0..<count).map { _ in
            guard let number = unsafe BN_secure_new() else { preconditionFailure("out of memory") }
            repeat {
                precondition(unsafe BN_priv_rand_range(number, order) == 1, "the system has entropy")
            } while unsafe BN_is_zero(number) == 1
            return unsafe number
        }
    }

    deinit {
        // The only references.
        unsafe numbers.forEach { unsafe BN_clear_free($0) }
    }

    /// The numbers, valid inside `body`, which only reads them.
    @unsafe func withNumbers<Result>(_ body: ([OpaquePointer?]) -> Result) -> Result { unsafe body(numbers) }
}
