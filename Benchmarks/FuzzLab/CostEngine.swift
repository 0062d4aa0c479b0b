internal import Crypto

/// The engine whose acceptances are the measure: a faster one makes every refusal dearer beside them.
enum CostEngine: String, CaseIterable {
    /// The fastest that this machine can run, as in production.
    case auto
    case ifma, portable
    case openSSL = "openssl"

    func make() -> any SignatureEngine {
        switch self {
        case .auto: Self.batch(BatchArithmetic.featureMissingForIFMA == nil ? .ifma : .portable)
        case .ifma: Self.batch(.ifma)
        case .portable: Self.batch(.portable)
        case .openSSL: OpenSSLEngine()
        }
    }

    /// Without the sample for OpenSSL, which is drawn from accepted and refused signatures alike.
    private static func batch(_ arithmetic: BatchArithmetic) -> BatchEngine {
        BatchEngine(arithmetic, watch: EngineWatch(crossCheck: 0, key: 0) { _ in })
    }
}
