/// How signatures are verified, and tokens signed.
package struct EngineSettings: Sendable, Equatable {
    package var use = EngineUse.auto
    /// One answer in so many is compared with OpenSSL's; 0 = none.
    package var crossCheck = 1000
    /// Absolute path of libcrypto_mb; empty = OpenSSL signs alone.
    package var signingLibrary = ""

    package init() {}
}

/// The engine that verifies signatures. All give the same answers.
package enum EngineUse: String, Sendable, CaseIterable {
    /// The fastest that this machine can run.
    case auto
    case openSSL = "openssl"
    /// Our own arithmetic, one signature after the other.
    case portable
    /// The same in AVX-512 lanes, eight signatures at once.
    case ifma
}
