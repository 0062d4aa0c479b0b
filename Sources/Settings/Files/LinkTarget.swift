internal import Glibc

/// The targets of links.
package enum LinkTarget {
    /// The path without links; as it is where there is no such file.
    package static func of(_ path: String) -> String {
        // The path is copied for the call; the answer is copied and freed.
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
