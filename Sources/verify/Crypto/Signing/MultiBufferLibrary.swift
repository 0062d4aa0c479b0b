internal import COpenSSL

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Intel's libcrypto_mb, opened from a path that the operator names: nothing searches for it. It stays loaded for the
/// process's life, so its functions may be called at any time.
@safe package final class MultiBufferLibrary: GroupSigner {
    /// The version whose functions are called here; minor versions only add some.
    package static let majorVersion = 2

    package let name: String
    private let algorithms: Set<Algorithm>
    // Functions of a library that is never closed; both keep no state between calls.
    private let signRSA: RSASign
    private let signP256: P256Sign

    /// Numbers of the library's `enum MBX_ALGO`.
    private enum Algorithm: Int32, CaseIterable {
        case rsa2048 = 1
        case rsa3072, rsa4096
        case p256 = 5
    }

    /// - Parameter trusted: a folder above the file from which on upwards no rights are judged; nil = all are.
    package init(path: String, below trusted: String? = nil) throws(MultiBufferFault) {
        let file: Int32
        do throws(CodeFault) { file = try CodeFile.open(path, below: trusted) } catch { throw .file(error) }
        let opened = "/proc/self/fd/\(file)"
        // Never closed, as its descriptor, whose name the loader knows it by. Its names stay its own: nothing else is bound
        // to them.
        guard let handle = unsafe dlopen(opened, RTLD_NOW | RTLD_LOCAL) else {
            let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? "no reason given"
            close(file)
            throw .notLoadable(reason.replacing(opened, with: path))
        }
        let version = try unsafe Self.version(handle)
        name = "libcrypto_mb \(version.major).\(version.minor).\(version.patch)"
        guard version.major == Self.majorVersion else {
            throw .otherVersion(major: version.major, minor: version.minor)
        }
        guard unsafe Self.hasOurOpenSSL(handle) else { throw .otherOpenSSL }
        // The types are those of the library's headers.
        unsafe signRSA = unsafe unsafeBitCast(try Self.symbol("mbx_rsa_private_crt_ssl_mb8", handle), to: RSASign.self)
        let p256 = unsafe try Self.symbol("mbx_nistp256_ecdsa_sign_ssl_mb8", handle)
        unsafe signP256 = unsafe unsafeBitCast(p256, to: P256Sign.self)
        algorithms = try unsafe Self.algorithms(handle)
        guard !algorithms.isEmpty else { throw .notApplicable }
    }

    package func canSign(with key: SigningKey) -> Bool {
        guard let algorithm = Self.algorithm(of: key) else { return false }
        return algorithms.contains(algorithm)
    }

    package func sign(_ digests: [Digest], with key: SigningKey) -> [[UInt8]]? {
        precondition(digests.count == GroupSize.group, "a group is full")
        guard let handle = key.handle else { return nil }
        return key.kind == .rsa ? rsaSignatures(digests, handle, key.signatureBytes) : p256Signatures(digests, handle)
    }

    private static func algorithm(of key: SigningKey) -> Algorithm? {
        guard let handle = key.handle else { return nil }
        return switch (key.kind, key.signatureBytes) {
        // The factors must have half of the bits each, as the library takes for granted.
        case (.rsa, 256) where handle.hasEvenFactors: .rsa2048
        case (.rsa, 384) where handle.hasEvenFactors: .rsa3072
        case (.rsa, 512) where handle.hasEvenFactors: .rsa4096
        case (.rsa, _): nil
        case (.p256, _): .p256
        }
    }
}

// MARK: - Signing

extension MultiBufferLibrary {
    private typealias Bytes = UnsafePointer<UInt8>?
    private typealias Output = UnsafeMutablePointer<UInt8>?
    private typealias Number = OpaquePointer?

    /// `mbx_rsa_private_crt_ssl_mb8(from, to, p, q, dp, dq, iq, bits)`: eight pointers each.
    private typealias RSASign =
        @convention(c) (
            UnsafePointer<Bytes>, UnsafePointer<Output>, UnsafePointer<Number>, UnsafePointer<Number>,
            UnsafePointer<Number>, UnsafePointer<Number>, UnsafePointer<Number>, Int32
        ) -> UInt32

    /// `mbx_nistp256_ecdsa_sign_ssl_mb8(r, s, digests, nonces, keys, buffer)`: eight pointers each; the buffer is unused.
    private typealias P256Sign =
        @convention(c) (
            UnsafePointer<Output>, UnsafePointer<Output>, UnsafePointer<Bytes>, UnsafePointer<Number>,
            UnsafePointer<Number>, UnsafeMutablePointer<UInt8>?
        ) -> UInt32

    /// The private operation on eight padded digests.
    private func rsaSignatures(_ digests: [Digest], _ key: PrivateKeyHandle, _ size: Int) -> [[UInt8]]? {
        let padded = digests.flatMap { EMSAPadding.padded($0, byteCount: size) }
        var signed = [UInt8](repeating: 0, count: GroupSize.group * size)
        let status = unsafe padded.withUnsafeBufferPointer { padded in
            unsafe signed.withUnsafeMutableBufferPointer { signed in
                // Each pointer leads to `size` bytes, in memory that outlives the call.
                let (inputs, outputs) = unsafe (Self.inputs(padded, size), Self.outputs(signed, size))
                // The numbers belong to the key, which `key` keeps alive; the library only reads them.
                return unsafe key.withFactors { p, q, dp, dq, iq in
                    let (p, q, dp) = unsafe (Self.group(p), Self.group(q), Self.group(dp))
                    let (dq, iq) = unsafe (Self.group(dq), Self.group(iq))
                    return unsafe signRSA(inputs, outputs, p, q, dp, dq, iq, Int32(size * 8))
                }
            }
        }
        guard status == 0 else { return nil }
        return (0..<GroupSize.group).map { Array(signed[$0 * size..<($0 + 1) * size]) }
    }

    /// Signs each digest under a fresh nonce.
    private func p256Signatures(_ digests: [Digest], _ key: PrivateKeyHandle) -> [[UInt8]]? {
        let hashed = digests.flatMap(\.bytes)
        var signed = [UInt8](repeating: 0, count: GroupSize.group * 64)
        let nonces = SecretNonces(count: GroupSize.group)
        let status = unsafe hashed.withUnsafeBufferPointer { hashed in
            unsafe signed.withUnsafeMutableBufferPointer { signed in
                // Each pointer leads to 32 bytes, in memory that outlives the call.
                let inputs = unsafe Self.inputs(hashed, 32)
                let (r, s) = unsafe (Self.outputs(signed, 64), Self.outputs(signed, 64, from: 32))
                // The scalar belongs to the key, which `key` keeps alive; the library only reads it and the nonces.
                let scalar = unsafe Self.group(key.scalar)
                return unsafe nonces.withNumbers { unsafe signP256(r, s, inputs, $0, scalar, nil) }
            }
        }
        guard status == 0 else { return nil }
        return (0..<GroupSize.group).map { Array(signed[$0 * 64..<($0 + 1) * 64]) }
    }

    private static func group(_ number: OpaquePointer?) -> [OpaquePointer?] {
        unsafe Array(repeating: number, count: GroupSize.group)
    }

    private static func inputs(_ bytes: UnsafeBufferPointer<UInt8>, _ stride: Int) -> [Bytes] {
        // Inside the buffer, which has eight strides.
        unsafe (0..<GroupSize.group).map { unsafe bytes.baseAddress?.advanced(by: $0 * stride) }
    }

    private static func outputs(
        _ bytes: UnsafeMutableBufferPointer<UInt8>,
        _ stride: Int,
        from first: Int = 0
    ) -> [Output] {
        // Inside the buffer, which has eight strides.
        unsafe (0..<GroupSize.group).map { unsafe bytes.baseAddress?.advanced(by: first + $0 * stride) }
    }
}

// MARK: - Opening

extension MultiBufferLibrary {
    private static func symbol(
        _ name: String,
        _ handle: UnsafeMutableRawPointer
    ) throws(MultiBufferFault) -> UnsafeMutableRawPointer {
        guard let symbol = unsafe dlsym(handle, name) else { throw .noSymbol(name) }
        return unsafe symbol
    }

    /// The first three members of what `mbx_getversion` returns.
    private static func version(
        _ handle: UnsafeMutableRawPointer
    ) throws(MultiBufferFault) -> (major: Int, minor: Int, patch: Int) {
        typealias Version = @convention(c) () -> UnsafePointer<Int32>?
        // A constant of the library that begins with three ints.
        let version = unsafe unsafeBitCast(try symbol("mbx_getversion", handle), to: Version.self)
        guard let numbers = unsafe version() else { throw .noSymbol("a version") }
        return unsafe (Int(numbers[0]), Int(numbers[1]), Int(numbers[2]))
    }

    /// Whether the library's calls of OpenSSL reach the one of this process.
    private static func hasOurOpenSSL(_ handle: UnsafeMutableRawPointer) -> Bool {
        // nil stands for the process itself; addresses are only compared.
        ["BN_num_bits", "BN_bn2lebinpad"].allSatisfy { name in
            guard let theirs = unsafe dlsym(handle, name) else { return true }
            return unsafe theirs == dlsym(nil, name)
        }
    }

    /// The algorithms that the library can run on this processor, in groups of eight.
    private static func algorithms(_ handle: UnsafeMutableRawPointer) throws(MultiBufferFault) -> Set<Algorithm> {
        typealias IsApplicable = @convention(c) (UInt64) -> Int32
        typealias Info = @convention(c) (Int32) -> UInt64
        // The types are those of the library's headers; zero asks for this processor.
        let isApplicable = unsafe unsafeBitCast(
            try symbol("mbx_is_crypto_mb_applicable", handle),
            to: IsApplicable.self
        )
        let info = unsafe unsafeBitCast(try symbol("mbx_get_algo_info", handle), to: Info.self)
        guard isApplicable(0) == 1 else { throw .notApplicable }
        return Set(Algorithm.allCases.filter { info($0.rawValue) & UInt64(GroupSize.group) != 0 })
    }
}

/// EMSA-PKCS1-v1_5 with SHA-256 (RFC 8017, section 9.2): what an RSA signature's private operation is applied to. Public.
enum EMSAPadding {
    /// DigestInfo up to the digest.
    static let info: [UInt8] = [
        0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04,
        0x20,
    ]

    /// - Parameter byteCount: of the modulus; 2048 bits or more leave room.
    static func padded(_ digest: Digest, byteCount: Int) -> [UInt8] {
        let filler = byteCount - 3 - info.count - Digest.byteCount
        precondition(filler >= 8, "a modulus has room for a digest")
        return [0x00, 0x01] + [UInt8](repeating: 0xFF, count: filler) + [0x00] + info + digest.bytes
    }
}

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
