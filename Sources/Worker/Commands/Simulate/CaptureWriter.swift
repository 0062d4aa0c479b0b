internal import Log
internal import Pipeline
internal import Settings

/// Writes a capture, a chunk of records at a time.
final class CaptureWriter {
    private let file: OutputFile
    private var buffer: [UInt8] = []

    /// - Parameter path: a file, which is overwritten, or `-` for standard output.
    init(path: String, holds content: OutputFile.Content) throws(CommandFault) {
        file = try OutputFile(path, holds: content)
    }

    func write(_ records: [InboundRecord]) throws {
        buffer.removeAll(keepingCapacity: true)
        for record in records { CaptureCodec.encode(record, into: &buffer) }
        try file.write(buffer)
    }

    func close() throws { try file.close() }
}
