internal import COpenSSL

/// A key of AES-256-GCM (SP 800-38D) with nonces of 12 bytes and tags of 16.
@safe package final class AESGCMKey: Sendable {
    package static let keyBytes = 32
    package static let nonceBytes = 12
    package static let tagBytes = 16

    // Fetched once, since a fetch costs more than a sealing; never freed, and OpenSSL only counts its users.
    nonisolated(unsafe) private static let cipher: OpaquePointer = {
        guard let cipher = unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) else {
            preconditionFailure("OpenSSL lacks AES-256-GCM")
        }
        return unsafe cipher
    }()

    private let secret: Secret

    /// - Parameter secret: 32 bytes.
    package init(_ secret: Secret) {
        precondition(secret.count == Self.keyBytes, "AES-256 has keys of 32 bytes")
        self.secret = secret
    }

    /// - Parameters:
    ///   - nonce: 12 bytes, never the same for two plaintexts.
    ///   - clear: authenticated and not encrypted.
    /// - Returns: as many bytes as the plaintext, then the tag.
    package func seal(_ plaintext: Span<UInt8>, nonce: Span<UInt8>, authenticating clear: Span<UInt8>) -> [UInt8] {
        let context = AESGCMContext()
        let count = plaintext.count
        // OpenSSL writes `count` bytes and after them the 16 of the tag: the buffer's size.
        return unsafe [UInt8](unsafeUninitializedCapacity: count + Self.tagBytes) { buffer, initialized in
            begin(context, nonce: nonce, isSealing: 1)
            unsafe context.update(nil, clear)
            unsafe context.update(buffer.baseAddress, plaintext)
            let tag = unsafe buffer.baseAddress?.advanced(by: count)
            var none: Int32 = 0
            let isDone = unsafe EVP_CipherFinal_ex(context.pointer, tag, &none) == 1
            let hasTag = unsafe EVP_CIPHER_CTX_ctrl(context.pointer, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1
            precondition(isDone && hasTag, "sealing fails only when memory is out")
            initialized = count + Self.tagBytes
        }
    }

    /// - Parameter sealed: what ``seal(_:nonce:authenticating:)`` gave.
    /// - Returns: the plaintext; nil if any bit of `sealed`, nonce, clear bytes or key differs.
    package func open(_ sealed: Span<UInt8>, nonce: Span<UInt8>, authenticating clear: Span<UInt8>) -> [UInt8]? {
        let count = sealed.count - Self.tagBytes
        guard count >= 0, nonce.count == Self.nonceBytes else { return nil }
        let context = AESGCMContext()
        var isGenuine = false
        let plaintext = [UInt8](capacity: count) { output in
            // OpenSSL writes `count` bytes, the buffer's size, and reads the 16 of the tag.
            unsafe output.withUnsafeMutableBufferPointer { buffer, initialized in
                begin(context, nonce: nonce, isSealing: 0)
                unsafe context.update(nil, clear)
                unsafe context.update(buffer.baseAddress, sealed.extracting(..<count))
                isGenuine = context.isGenuine(tag: sealed.extracting(count...))
                initialized = count
            }
        }
        return isGenuine ? plaintext : nil
    }

    private func begin(_ context: borrowing AESGCMContext, nonce: Span<UInt8>, isSealing: Int32) {
        precondition(nonce.count == Self.nonceBytes, "nonces have 12 bytes")
        let isReady = unsafe secret.withUnsafeBytes { key in
            unsafe nonce.withUnsafeBufferPointer { nonce in
                // OpenSSL copies the 32 bytes of the key and the 12 of the nonce.
                unsafe EVP_CipherInit_ex2(
                    context.pointer,
                    Self.cipher,
                    key.assumingMemoryBound(to: UInt8.self).baseAddress,
                    nonce.baseAddress,
                    isSealing,
                    nil
                )
            }
        }
        precondition(isReady == 1, "out of memory")
    }
}

/// OpenSSL's state of one sealing or opening.
@safe private struct AESGCMContext: ~Copyable {
    // Owned: made in the initialiser, wiped and freed in deinit.
    let pointer: OpaquePointer

    init() {
        guard let pointer = unsafe EVP_CIPHER_CTX_new() else { preconditionFailure("out of memory") }
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe EVP_CIPHER_CTX_free(pointer) }

    /// - Parameter output: room for as many bytes as the input has; nil = the input is only authenticated.
    func update(_ output: UnsafeMutablePointer<UInt8>?, _ input: Span<UInt8>) {
        guard !input.isEmpty else { return }
        var written: Int32 = 0
        // OpenSSL reads all of the input, and writes as many bytes or none.
        let isDone = unsafe input.withUnsafeBufferPointer {
            unsafe EVP_CipherUpdate(pointer, output, &written, $0.baseAddress, Int32($0.count))
        }
        precondition(isDone == 1, "GCM takes up to 64 GiB")
    }

    func isGenuine(tag: Span<UInt8>) -> Bool {
        var none: Int32 = 0
        var rest: (UInt64, UInt64) = (0, 0)
        // OpenSSL copies the tag's 16 bytes, and writes nothing at the end of a stream.
        return unsafe tag.withUnsafeBytes { tag in
            let copy = unsafe UnsafeMutableRawPointer(mutating: tag.baseAddress)
            guard unsafe EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), copy) == 1 else {
                return false
            }
            return unsafe withUnsafeMutableBytes(of: &rest) { rest in
                let target = unsafe rest.assumingMemoryBound(to: UInt8.self).baseAddress
                return unsafe EVP_CipherFinal_ex(pointer, target, &none) == 1
            }
        }
    }
}
