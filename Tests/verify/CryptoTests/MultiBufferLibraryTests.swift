import Crypto
import Dispatch
import Foundation
import Synchronization
import TestKit
import Testing
import Threads

/// Files that are no libcrypto_mb, and the real one where CRYPTO_MB names it.
@Suite struct MultiBufferLibraryTests {
    private static let realPath = ProcessInfo.processInfo.environment["CRYPTO_MB"]
    private static let compiler = ["/usr/bin/cc", "/usr/bin/clang", "/usr/bin/gcc"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    private static let digests = (0..<24).map { SHA256.hash([UInt8($0), 2]) }

    /// Wherever it was built: the rights of that folder are not what is tried.
    private static func real() throws -> MultiBufferLibrary {
        let path = try #require(realPath)
        return try MultiBufferLibrary(path: path, below: URL(filePath: path).deletingLastPathComponent().path)
    }

    /// A library of our own with these functions, in the temporary folder.
    private static func build(_ source: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/library-" + UUID().uuidString
        try Data(source.utf8).write(to: URL(filePath: path + ".c"))
        defer { try? FileManager.default.removeItem(atPath: path + ".c") }
        let process = Process()
        process.executableURL = URL(filePath: try #require(compiler))
        process.arguments = ["-shared", "-fPIC", "-o", path, path + ".c"]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return path
    }

    private static let version = "static int v[3] = {2, 3, 0}; int *mbx_getversion(void) { return v; }\n"
    private static let signers = "int mbx_rsa_private_crt_ssl_mb8, mbx_nistp256_ecdsa_sign_ssl_mb8;\n"
    private static let features = """
        int mbx_is_crypto_mb_applicable(unsigned long f) { return 1; }
        unsigned long mbx_get_algo_info(int a) { return 0; }

        """

    @Test func `a path that names no regular file, or one that others may write, is refused`() throws {
        let folder = FileManager.default.temporaryDirectory.path
        let path = folder + "/library-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(throws: MultiBufferFault.file(.notAbsolute)) { try MultiBufferLibrary(path: "libcrypto_mb.so") }
        #expect(throws: MultiBufferFault.file(.notAbsolute)) { try MultiBufferLibrary(path: "") }
        #expect(throws: MultiBufferFault.file(.missing)) { try MultiBufferLibrary(path: path) }
        #expect(throws: MultiBufferFault.file(.notRegular)) { try MultiBufferLibrary(path: folder) }
        for mode in [0o666, 0o646, 0o602] {
            _ = FileManager.default.createFile(atPath: path, contents: Data("text".utf8))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            #expect(throws: MultiBufferFault.file(.writable(mode: UInt32(mode)))) { try MultiBufferLibrary(path: path) }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let fault = #expect(throws: MultiBufferFault.self) { try MultiBufferLibrary(path: path, below: folder) }
        guard case .notLoadable = fault else {
            Issue.record("text was loaded: \(String(describing: fault))")
            return
        }
    }

    /// A library's source, and why it is refused.
    struct Unfit: Sendable {
        let source: String
        let fault: MultiBufferFault

        init(_ source: String, _ fault: MultiBufferFault) { (self.source, self.fault) = (source, fault) }
    }

    static let unfit: [Unfit] = [
        Unfit("int nothing;", .noSymbol("mbx_getversion")),
        Unfit(version.replacing("{2, 3, 0}", with: "{1, 9, 0}"), .otherVersion(major: 1, minor: 9)),
        Unfit(version.replacing("{2, 3, 0}", with: "{3, 0, 0}"), .otherVersion(major: 3, minor: 0)),
        Unfit(version + "int BN_num_bits(void *n) { return 0; }", .otherOpenSSL),
        Unfit(version, .noSymbol("mbx_rsa_private_crt_ssl_mb8")),
        Unfit(version + "int mbx_rsa_private_crt_ssl_mb8;", .noSymbol("mbx_nistp256_ecdsa_sign_ssl_mb8")),
        Unfit(version + signers, .noSymbol("mbx_is_crypto_mb_applicable")),
        Unfit(version + signers + features.replacing("return 1", with: "return 0"), .notApplicable),
        Unfit(version + signers + features, .notApplicable),
    ]

    @Test(.enabled(if: compiler != nil, "no C compiler builds the files"), arguments: unfit)
    func `a library of another version, processor or OpenSSL is refused with its fault`(unfit: Unfit) throws {
        let path = try Self.build(unfit.source)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let folder = FileManager.default.temporaryDirectory.path
        #expect(throws: unfit.fault) { try MultiBufferLibrary(path: path, below: folder) }
        #expect(!unfit.fault.description.isEmpty)
    }

    @Test(.enabled(if: realPath != nil, "CRYPTO_MB names no libcrypto_mb"), arguments: [2048, 3072, 4096])
    func `the real library signs with RSA as OpenSSL does`(bits: Int) throws {
        let real = try Self.real()
        #expect(real.name.hasPrefix("libcrypto_mb 2."))
        let key = try SigningKey.generate(.rsa, rsaBits: bits)
        #expect(real.canSign(with: key))
        let library = SigningLibrary(real, engine: nil) { Issue.record("\($0)") }
        let signer = TokenSigner(library, keys: [("k", key)])
        #expect(signer.usesLibrary(for: key))
        for count in [5, 7, 8, 13, 24] {
            let requests = Self.digests.prefix(count).map { SigningRequest(key: key, digest: $0) }
            #expect(signer.sign(requests, SigningScratch()) == requests.map { key.sign($0.digest) })
        }
        #expect(library.signedCount == 57)
    }

    @Test(.enabled(if: realPath != nil, "CRYPTO_MB names no libcrypto_mb"))
    func `the real library leaves RSA keys of other sizes to OpenSSL`() throws {
        let real = try Self.real()
        #expect(!real.canSign(with: try SigningKey.generate(.rsa, rsaBits: 2056)))
        #expect(!real.canSign(with: try SigningKey.generate(.rsa, rsaBits: 2304)))
    }

    @Test(.enabled(if: realPath != nil, "CRYPTO_MB names no libcrypto_mb"))
    func `the real library's ES256 signatures verify, and no two have one nonce, on four threads`() throws {
        let real = try Self.real()
        let key = try SigningKey.generate(.p256)
        let wrong = Atomic<Int>(0)
        let halves = Locked<Set<[UInt8]>>([])
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<20 {
                guard let signatures = real.sign(Array(Self.digests.prefix(8)), with: key) else {
                    wrong.add(1, ordering: .relaxed)
                    continue
                }
                for (signature, digest) in zip(signatures, Self.digests) {
                    if !key.publicKey.isValid(signature.span, of: digest) { wrong.add(1, ordering: .relaxed) }
                    halves.withLock { _ = $0.insert(Array(signature.prefix(32))) }
                }
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
        // Equal nonces have equal first halves.
        #expect(halves.withLock { $0.count } == 4 * 20 * 8)
    }
}
