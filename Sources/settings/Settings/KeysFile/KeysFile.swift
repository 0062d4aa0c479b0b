internal import JSON

/// KEYS files: a JSON object per line.
package enum KeysFile {
    /// Calls `body` with each key of the file and its line's number, in order, one line in memory at a time.
    ///
    /// - Parameter path: a file, or `-` for standard input. Empty lines are skipped.
    /// - Throws: ``CommandFault`` naming the line that cannot be read, or the error of `body`.
    package static func read(_ path: String, _ body: (ImportedKey, _ line: Int) throws -> Void) throws {
        let lines = try LineReader(path: path)
        while let line = try lines.next() {
            let key: ImportedKey
            do throws(Fault) { key = try decode(line) } catch {
                throw CommandFault("\(path): line \(lines.lineNumber): \(error.reason); fix or remove the line.")
            }
            try body(key, lines.lineNumber)
        }
    }

    /// Why a line cannot be read.
    package struct Fault: Error, Equatable, Sendable {
        package let reason: String

        package init(reason: String) { self.reason = reason }
    }

    /// Longer than any key's line, and short enough for one record of the ledger topic.
    static let maxLineBytes = 65_536

    /// Reads one line (without its newline).
    package static func decode(_ line: [UInt8]) throws(Fault) -> ImportedKey {
        guard line.count <= maxLineBytes else { throw Fault(reason: "it is longer than \(maxLineBytes) bytes") }
        return try KeyLine.decode(line)
    }

    /// Appends one line and a newline.
    package static func encode(_ key: ImportedKey, into output: inout [UInt8]) {
        var buffer: [UInt8] = []
        swap(&buffer, &output)
        var writer = JSONWriter(appendingTo: buffer)
        buffer = []
        KeyLine.encode(key, into: &writer)
        output = writer.takeBytes()
    }
}
