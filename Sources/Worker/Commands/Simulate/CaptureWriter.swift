internal import Foundation
internal import Pipeline

/// Writes a capture file, a chunk of records at a time.
final class CaptureWriter {
    private let handle: FileHandle
    private let path: String
    private var buffer: [UInt8] = []

    /// - Parameter path: a file, which is written over, or `-` for standard output.
    init(path: String) throws(CommandFault) {
        self.path = path
        if path == "-" {
            handle = .standardOutput
            return
        }
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else { throw CommandFault("cannot write \(path): check the folder, its rights and its disk.") }
        self.handle = handle
    }

    func write(_ records: [InboundRecord]) throws(CommandFault) {
        buffer.removeAll(keepingCapacity: true)
        for record in records { CaptureCodec.encode(record, into: &buffer) }
        do { try handle.write(contentsOf: Data(buffer)) } catch { throw fault(error) }
    }

    func close() throws(CommandFault) {
        guard path != "-" else { return }
        do { try handle.close() } catch { throw fault(error) }
    }

    private func fault(_ error: any Error) -> CommandFault {
        CommandFault("cannot write \(path): \(error.localizedDescription)")
    }
}
