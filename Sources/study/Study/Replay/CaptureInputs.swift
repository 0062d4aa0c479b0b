internal import Glibc
internal import Settings

/// Captures read one after the other, as one: lines are counted through.
final class CaptureInputs {
    private let paths: [String]
    /// The sizes of the paths; nil for what has no size, such as standard input.
    private let sizes: [Int?]
    private var reader: RecordReader
    /// The path being read.
    private var current = 0
    /// Lines before each path that was begun.
    private var linesBefore = [0]
    private var bytesBefore = 0

    /// Opens the first one; the others must be readable by now.
    ///
    /// - Parameter paths: at least one; a file, or `-` for standard input.
    init(_ paths: [String]) throws(CommandFault) {
        self.paths = paths
        reader = try RecordReader(path: paths[0])
        var sizes = [reader.totalBytes]
        // Only looked at, not kept: there may be more of them than a process may open.
        for path in paths.dropFirst() { sizes.append(try Self.size(of: path)) }
        self.sizes = sizes
    }

    /// The size of a file; nil for what has none, such as standard input.
    static func bytes(of path: String) -> Int? { (try? size(of: path)) ?? nil }

    /// Looks at a file without opening it: a pipe's writer sees one reader only.
    private static func size(of path: String) throws(CommandFault) -> Int? {
        guard path != "-" else { return nil }
        var status = stat()
        // The path is copied for both calls; the second one fills the status in.
        guard unsafe access(path, R_OK) == 0, unsafe stat(path, &status) == 0 else {
            throw CommandFault("cannot read \(path): no such file, or no permission to read it.")
        }
        return status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }

    /// Sum of the sizes, where all files have one.
    var bytesTotal: Int? {
        sizes.reduce(into: Int?(0)) { sum, size in sum = sum.flatMap { sum in size.map { sum + $0 } } }
    }

    /// Bytes of the files behind the last line given.
    var bytesConsumed: Int { bytesBefore + reader.bytesConsumed }

    /// The path that the last range is from.
    var path: String { paths[current] }

    /// The bytes that the last range lies in.
    var chunk: [UInt8] { reader.chunk }

    /// The number of the last record's first line, counted through all files.
    var lineNumber: Int { linesBefore[current] + reader.lineNumber }

    /// Whether the last record ends its file without a newline.
    var isCut: Bool { reader.isCut }

    /// The next record's range in ``chunk``; nil at the end of the last file.
    func nextRange() throws(CommandFault) -> Range<Int>? {
        while true {
            if let range = try reader.nextRange() { return range }
            guard current + 1 < paths.count else { return nil }
            bytesBefore += sizes[current] ?? reader.bytesConsumed
            linesBefore.append(lineNumber)
            current += 1
            reader = try RecordReader(path: paths[current])
        }
    }

    /// The file of a line that was given, and its number there.
    func place(ofLine number: Int) -> (path: String, line: Int) {
        let index = linesBefore.lastIndex { $0 < number } ?? 0
        return (paths[index], number - linesBefore[index])
    }
}
