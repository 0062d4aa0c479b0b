package import CommandFrame
internal import Dispatch
internal import Pipeline
package import Settings
package import Streams
internal import Threads

/// Writes a capture, a chunk of records at a time; several threads encode it.
package final class CaptureWriter {
    private let file: OutputFile
    private let lanes: Int

    /// - Parameters:
    ///   - path: a file, which is overwritten, or `-` for standard output.
    ///   - lanes: how many threads encode; the bytes do not depend on it.
    package init(path: String, holds content: OutputFile.Content, lanes: Int) throws(CommandFault) {
        file = try OutputFile(path, holds: content)
        self.lanes = max(1, lanes)
    }

    package func write(_ records: [InboundRecord]) throws {
        let lanes = lanes
        let share = (records.count + lanes - 1) / lanes
        let parts = Locked([[UInt8]](repeating: [], count: lanes))
        DispatchQueue.concurrentPerform(iterations: lanes) { lane in
            let start = min(lane * share, records.count)
            var lines: [UInt8] = []
            for record in records[start..<min(start + share, records.count)] {
                CaptureCodec.encode(record, into: &lines)
            }
            parts.withLock { $0[lane] = lines }
        }
        for lines in parts.withLock({ $0 }) { try file.write(lines) }
    }

    package func close() throws { try file.close() }
}
