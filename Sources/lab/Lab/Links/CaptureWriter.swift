package import CommandFrame
internal import Dispatch
internal import Pipeline
package import Settings
package import Streams
internal import Threads

/// Writes a capture, a chunk of records at a time; several threads encode it.
package final class CaptureWriter {
    private let file: OutputFile
    private let lanes: [EncodingLane]

    /// Lines of one thread.
    private final class EncodingLane: @unchecked Sendable {
        // One thread at a time: `concurrentPerform` hands each index out once.
        private var owner = Owner("EncodingLane")
        private(set) var lines: [UInt8] = []

        func encode(_ records: ArraySlice<InboundRecord>) {
            owner.check()
            defer { owner.release() }
            lines.removeAll(keepingCapacity: true)
            for record in records { CaptureCodec.encode(record, into: &lines) }
        }
    }

    /// - Parameters:
    ///   - path: a file, which is overwritten, or `-` for standard output.
    ///   - lanes: how many threads encode; the bytes do not depend on it.
    package init(path: String, holds content: OutputFile.Content, lanes: Int) throws(CommandFault) {
        file = try OutputFile(path, holds: content)
        self.lanes = (0..<max(1, lanes)).map { _ in EncodingLane() }
    }

    package func write(_ records: [InboundRecord]) throws {
        let lanes = lanes
        let share = (records.count + lanes.count - 1) / lanes.count
        DispatchQueue.concurrentPerform(iterations: lanes.count) { lane in
            let start = min(lane * share, records.count)
            lanes[lane].encode(records[start..<min(start + share, records.count)])
        }
        for lane in lanes { try file.write(lane.lines) }
    }

    package func close() throws { try file.close() }
}
