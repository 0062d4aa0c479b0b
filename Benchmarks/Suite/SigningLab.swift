internal import Crypto
internal import Foundation

/// The library that CRYPTO_MB names: an absolute path, as in `engine.signingLibrary`.
enum SigningLab {
    /// nil without the variable.
    static func signingLibrary(_ watch: EngineWatch) throws -> SigningLibrary? {
        guard let path = ProcessInfo.processInfo.environment["CRYPTO_MB"] else { return nil }
        let engine = BatchArithmetic.featureMissingForIFMA == nil ? watch : nil
        let library = try MultiBufferLibrary(path: path, below: path)
        return SigningLibrary(library, engine: engine) { preconditionFailure($0) }
    }

    /// An engine's watch that compares nothing.
    static func watch() -> EngineWatch { EngineWatch(crossCheck: 0, key: 0) { preconditionFailure($0) } }
}
