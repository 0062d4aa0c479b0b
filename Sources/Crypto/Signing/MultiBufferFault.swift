/// Why a file is not used as libcrypto_mb.
package enum MultiBufferFault: Error, Equatable, Sendable, CustomStringConvertible {
    case notAbsolute
    case missing
    case notRegular
    /// Group or others may replace code that sees the signing keys.
    case writable(mode: UInt32)
    /// They may put another file in its place.
    case writableFolder(String, mode: UInt32)
    /// Someone else owns the file, or a folder above it.
    case foreign(folder: String?, owner: UInt32)
    /// The loader's own words.
    case notLoadable(String)
    case noSymbol(String)
    case otherVersion(major: Int, minor: Int)
    /// The numbers that the two would exchange are OpenSSL's own objects.
    case otherOpenSSL
    case notApplicable

    package var description: String {
        switch self {
        case .notAbsolute: "is not an absolute path"
        case .missing: "does not exist"
        case .notRegular: "is not a regular file"
        case .writable(let mode):
            "can be written by others than its owner (mode \(String(mode, radix: 8))); change it: chmod go-w"
        case .writableFolder(let folder, let mode):
            "lies in \(folder), which others than its owner can write (mode \(String(mode, radix: 8))); install it in a "
                + "folder that root alone can write, such as /usr/lib, or change this one: chmod go-w \(folder)"
        case .foreign(let folder, let owner):
            "\(folder.map { "lies in \($0), which " } ?? "")belongs to user \(owner), not to root or this process's user; "
                + "install it as root in a folder of root's, such as /usr/lib"
        case .notLoadable(let reason): "cannot be loaded: \(reason)"
        case .noSymbol(let name): "is not libcrypto_mb: it lacks \(name)"
        case .otherVersion(let major, let minor):
            "is libcrypto_mb \(major).\(minor); this worker takes version \(MultiBufferLibrary.majorVersion)"
        case .otherOpenSSL: "has another OpenSSL than the worker; link it with this system's libcrypto"
        case .notApplicable: "has no code for this processor"
        }
    }
}
