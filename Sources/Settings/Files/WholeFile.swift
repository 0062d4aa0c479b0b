/// Files that are read at once.
package enum WholeFile {
    /// - Parameters:
    ///   - path: a file, or `-` for standard input.
    ///   - most: of a file with more bytes, one more than this is returned.
    package static func read(_ path: String, most: Int) throws(CommandFault) -> [UInt8] {
        try OpenFile(path: path).all(most: most)
    }

    /// A file of the kernel, which is text; nil where it cannot be read.
    package static func text(_ path: String, most: Int = 64 << 10) -> String? {
        (try? read(path, most: most)).map { String(decoding: $0, as: UTF8.self) }
    }
}
