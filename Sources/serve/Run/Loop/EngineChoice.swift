package import CommandFrame
package import Crypto
package import Settings

/// The engine that this process verifies with: as configured, as far as this machine can and a self-test agrees.
package struct EngineChoice {
    /// nil = OpenSSL alone.
    let arithmetic: BatchArithmetic?
    /// Why a faster engine is not used; nil = the fastest is, or another was asked for.
    private let obstacle: String?
    private let crossCheck: Int
    /// Shared by the lanes of all loops.
    private let points: KeyPointCache

    /// - Throws: where worker.json or `--engine` asks for what this machine cannot do.
    package init(_ settings: EngineSettings) throws(UsageFault) {
        crossCheck = settings.crossCheck
        points = KeyPointCache(
            byteCount: settings.use == .openSSL ? 0 : settings.pointBytes,
            secret: UInt64.random(in: .min ... .max)
        )
        switch settings.use {
        case .openSSL: (arithmetic, obstacle) = (nil, nil)
        case .portable:
            if let failure = Self.failure(of: .portable) { throw Self.fault(.portable, failure) }
            (arithmetic, obstacle) = (.portable, nil)
        case .ifma:
            if let obstacle = Self.obstacle(to: .ifma) { throw Self.fault(.ifma, obstacle) }
            (arithmetic, obstacle) = (.ifma, nil)
        case .auto: (arithmetic, obstacle) = Self.fastest()
        }
    }

    package var name: String { arithmetic?.rawValue ?? EngineUse.openSSL.rawValue }

    /// The engine and what stands in the way of a faster one, for the start line.
    var text: String { obstacle.map { "\(name) (\($0))" } ?? name }

    /// - Parameter alarm: called with a sentence if OpenSSL disagrees with the engine.
    package func watch(alarm: @escaping EngineWatch.Alarm) -> EngineWatch {
        EngineWatch(crossCheck: crossCheck, key: UInt64.random(in: .min ... .max), alarm: alarm)
    }

    package func make(_ watch: EngineWatch) -> any SignatureEngine {
        arithmetic.map { BatchEngine($0, watch: watch, points: points) } ?? OpenSSLEngine()
    }

    private static func fastest() -> (BatchArithmetic?, String?) {
        guard let obstacle = Self.obstacle(to: .ifma) else { return (.ifma, nil) }
        guard let failure = Self.failure(of: .portable) else { return (.portable, obstacle) }
        return (nil, "\(obstacle), \(failure)")
    }

    private static func obstacle(to arithmetic: BatchArithmetic) -> String? {
        if let feature = BatchArithmetic.featureMissingForIFMA { return "no \(feature) for ifma" }
        return failure(of: arithmetic)
    }

    private static func failure(of arithmetic: BatchArithmetic) -> String? {
        EngineTest.failure(of: arithmetic).map { "the self-test of \(arithmetic.rawValue) fails: \($0)" }
    }

    private static func fault(_ use: EngineUse, _ problem: String) -> UsageFault {
        UsageFault("the engine \(use.rawValue) cannot be used: \(problem); ask for auto.")
    }
}
