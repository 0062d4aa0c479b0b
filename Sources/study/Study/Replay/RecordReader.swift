internal import JSON
internal import Pipeline
internal import Settings

/// The records of a capture, one after the other: a line each, as kcat prints them; or an object over several lines,
/// or an array of objects, as other tools write them.
final class RecordReader {
    private let lines: LineReader
    /// The rest of the line read last.
    private var rest: Range<Int>?
    private var isInArray = false
    /// A record that stands on several lines.
    private var gathered: [UInt8]?
    /// Whether the last range is an object that cannot be one, with whatever stands behind it.
    private var isBroken = false
    /// Whether the file ends within the last record.
    private var isOpen = false
    /// The number of the last record's first line.
    private(set) var lineNumber = 0

    /// - Parameter path: a file, or `-` for standard input.
    init(path: String) throws(CommandFault) { lines = try LineReader(path: path) }

    /// The bytes that the last range lies in.
    var chunk: [UInt8] { gathered ?? lines.chunk }
    /// Whether the file ends within the last record, and nothing in it is wrong before. A line without a newline may be
    /// whole.
    var isCut: Bool { (lines.isCut || isOpen) && !isBroken }
    var totalBytes: Int? { lines.totalBytes }
    var bytesConsumed: Int { lines.bytesConsumed }

    /// The next record's range in ``chunk``, or that of something else where a record should stand; nil at the end.
    func nextRange() throws(CommandFault) -> Range<Int>? {
        (gathered, isBroken, isOpen) = (nil, false, false)
        while let line = try nextPart() {
            lineNumber = lines.lineNumber
            if isInArray {
                if let record = try element(line) { return record }
                continue
            }
            // Almost every line: an object with a member, and its end.
            if line.count > 1, byte(line.lowerBound) == UInt8(ascii: "{"),
                byte(line.lowerBound + 1) == UInt8(ascii: "\""), byte(line.upperBound - 1) == UInt8(ascii: "}")
            {
                return line
            }
            switch beginning(of: line) {
            case .record: return line
            case .openRecord(let start): return try gather(from: start, of: line)
            case .array(let start): (isInArray, rest) = (true, start..<line.upperBound)
            case .nothing: continue
            }
        }
        return nil
    }

    private enum Beginning {
        /// A line of its own, whatever is in it.
        case record
        case openRecord(from: Int)
        case array(behind: Int)
        case nothing
    }

    private func beginning(of line: Range<Int>) -> Beginning {
        guard let start = skip(line, isBlank) else { return .nothing }
        let next = skip(start + 1..<line.upperBound, isBlank)
        switch byte(start) {
        case UInt8(ascii: "{") where next == nil || goesOn(line): return .openRecord(from: start)
        case UInt8(ascii: "["):
            return next.map { byte($0) == UInt8(ascii: "{") } ?? true ? .array(behind: start + 1) : .record
        default: return .record
        }
    }

    /// Whether an object that begins on this line may end on a later one. If it was cut off in front of a value, the next
    /// record would count as that value.
    private func goesOn(_ line: Range<Int>) -> Bool {
        guard let end = line.last(where: { !isBlank(byte($0)) }) else { return false }
        return byte(end) != UInt8(ascii: "}") && byte(end) != UInt8(ascii: ":")
    }

    /// The next element of an array, or what stands in its place; nil where this line has none.
    private func element(_ line: Range<Int>) throws(CommandFault) -> Range<Int>? {
        guard let start = skip(line, { isBlank($0) || $0 == UInt8(ascii: ",") }) else { return nil }
        if byte(start) == UInt8(ascii: "]") {
            (isInArray, rest) = (false, start + 1..<line.upperBound)
            return nil
        }
        return byte(start) == UInt8(ascii: "{") ? try gather(from: start, of: line) : start..<line.upperBound
    }

    /// An object to its end, which may be many lines away.
    private func gather(from start: Int, of line: Range<Int>) throws(CommandFault) -> Range<Int> {
        var scan = JSONObjectScan()
        let chunk = lines.chunk
        let outcome = scan.scan(chunk.span, start..<line.upperBound)
        switch outcome {
        case .closed(let end):
            rest = end..<line.upperBound
            return start..<end
        case .broken, .cut:
            isBroken = outcome == .broken
            return start..<line.upperBound
        case .open: break
        }
        var record = Array(chunk[start..<line.upperBound])
        isOpen = true
        while let line = try lines.nextRange() {
            if scan.isInArray, isRecord(line) {
                // The record before was cut off within its headers.
                (isBroken, rest) = (true, line)
                break
            }
            record.append(0x0A)
            let chunk = lines.chunk
            let outcome = scan.scan(chunk.span, line)
            if case .closed(let end) = outcome {
                record += chunk[line.lowerBound..<end]
                (rest, isOpen) = (end..<line.upperBound, false)
                break
            }
            // It may begin a record of its own.
            isBroken = outcome == .broken || outcome == .cut && !lines.isCut
            rest = isBroken ? line : nil
            if isBroken { break }
            guard record.count + line.count <= LineReader.maxLineBytes else {
                throw CommandFault(
                    "\(lines.name): the record that begins on line \(lineNumber) is longer than "
                        + "\(LineReader.maxLineBytes) bytes."
                )
            }
            record += chunk[line]
        }
        gathered = record
        return record.indices
    }

    /// Whether a line is a whole record, which no header is.
    private func isRecord(_ line: Range<Int>) -> Bool {
        guard let start = skip(line, isBlank), byte(start) == UInt8(ascii: "{"),
            let end = line.last(where: { !isBlank(byte($0)) && byte($0) != UInt8(ascii: ",") }),
            byte(end) == UInt8(ascii: "}")
        else { return false }
        return (try? CaptureCodec.decode(lines.chunk, in: start..<end + 1)) != nil
    }

    private func nextPart() throws(CommandFault) -> Range<Int>? {
        if let rest {
            self.rest = nil
            if !rest.isEmpty { return rest }
        }
        return try lines.nextRange()
    }

    private func byte(_ index: Int) -> UInt8 { lines.chunk[index] }

    private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }

    /// The index of the first byte that is not skipped.
    private func skip(_ range: Range<Int>, _ isSkipped: (UInt8) -> Bool) -> Int? {
        range.first { !isSkipped(lines.chunk[$0]) }
    }
}
