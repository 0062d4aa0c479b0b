internal import JSON
internal import Pipeline
package import Settings
package import Streams

/// A capture's records one after the other, for commands that judge none of them.
package final class CaptureLines {
    private let reader: RecordReader
    private let name: String
    private let skipsBadLines: Bool
    private(set) var leftOut = LeftOutLines()

    /// - Parameter path: a file, or `-` for standard input.
    package init(path: String, skipsBadLines: Bool) throws(CommandFault) {
        reader = try RecordReader(path: path)
        (name, self.skipsBadLines) = (path, skipsBadLines)
    }

    /// - Returns: nil at the end; a last line that is cut off counts as the end.
    /// - Throws: ``CommandFault`` naming a line that is not a record, unless such lines are left out.
    package func next() throws(CommandFault) -> InboundRecord? {
        while let range = try reader.nextRange() {
            let chunk = reader.chunk
            do throws(CaptureCodec.Fault) { return try CaptureCodec.decode(chunk, in: range) } catch {
                if reader.isCut, LeftOutLines.isUnfinished(chunk[range]) {
                    leftOut.cutLine = reader.lineNumber
                } else if skipsBadLines {
                    leftOut.count += 1
                } else {
                    throw LeftOutLines.fault(name, reader.lineNumber, error.reason)
                }
            }
        }
        return nil
    }

    /// The share of the capture behind the last record given, if its size is known.
    package var share: Double? { reader.totalBytes.map { Double(reader.bytesConsumed) / Double(max(1, $0)) } }

    /// A line for each kind of left-out line.
    package var warnings: [String] { leftOut.warnings(of: name) }
}

/// Lines of a capture that are not records.
struct LeftOutLines: Equatable {
    /// The last line, if it is incomplete: its writer was stopped in the middle of it.
    var cutLine: Int?
    /// Other lines, left out because the user asked for it.
    var count = 0

    /// Whether a line's JSON ends too early; a complete line that is not a record is wrong from the start.
    static func isUnfinished(_ line: ArraySlice<UInt8>) -> Bool {
        (try? JSONDocument(parsing: Array(line), maxNodes: line.count + 1, allowInvalidUTF8: true)) == nil
    }

    func warnings(of name: String) -> [String] {
        var warnings: [String] = []
        if let cutLine { warnings.append("\(name): the last line (\(cutLine)) is cut off and was skipped") }
        if count > 0 {
            let lines = count.counted("line", "is not a record and was", "are not records and were")
            warnings.append("\(name): \(lines) skipped")
        }
        return warnings
    }

    static func fault(_ name: String, _ line: Int, _ reason: String) -> CommandFault {
        CommandFault(
            "\(name): line \(line) is not a capture record: \(reason) (captures come from `kcat -C -J`; "
                + "--skip-bad-lines skips bad lines)."
        )
    }
}
