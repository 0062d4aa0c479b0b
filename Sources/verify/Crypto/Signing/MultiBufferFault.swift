/// Why a file is not used as libcrypto_mb.
package enum MultiBufferFault: Error, Equatable, Sendable, CustomStringConvertible {
    case file(CodeFault)
    /// The loader's own words.
    case notLoadable(String)
    case noSymbol(String)
    case otherVersion(major: Int, minor: Int)
    /// The numbers that the two would exchange are OpenSSL's own objects.
    case otherOpenSSL
    case notApplicable

    package var description: String {
        switch self {
        case .file(let fault): fault.description
        case .notLoadable(let reason): "cannot be loaded: \(reason)"
        case .noSymbol(let name): "is not libcrypto_mb: it lacks \(name)"
        case .otherVersion(let major, let minor):
            "is libcrypto_mb \(major).\(minor); this worker takes version \(MultiBufferLibrary.majorVersion)"
        case .otherOpenSSL: "has another OpenSSL than the worker; link it with this system's libcrypto"
        case .notApplicable: "has no code for this processor"
        }
    }
}
