internal import Compression

/// A compressed file's bytes, decompressed a block at a time: memory does not grow with what comes out.
final class CompressedInput {
    struct Block {
        var bytes: [UInt8] = []
        /// Compressed bytes that the stream had taken when this block was complete.
        var position = 0
    }

    private static let readBytes = 128 << 10
    private static let blockBytes = 256 << 10

    private let file: OpenFile
    private let format: CompressionFormat
    private let decompressor: Decompressor
    /// Bytes of the file that the decompressor gets next, from ``start`` on.
    private var input: [UInt8]
    private var start = 0
    private var atEnd = false
    private var position = 0
    private var failed: Fault?

    /// - Parameter head: bytes that were read already.
    init(_ file: OpenFile, head: [UInt8], _ format: CompressionFormat) throws(Fault) {
        (self.file, self.format, input) = (file, format, head)
        do throws(CompressionFault) { decompressor = try Decompressor(format) } catch { throw Fault(error.reason) }
    }

    /// An empty block is the end.
    ///
    /// A stream that failed is not touched again: zstd leaves it undefined what a further call does.
    func next() throws(Fault) -> Block {
        if let failed { throw failed }
        do throws(Fault) { return try read() } catch {
            failed = error
            throw error
        }
    }

    private func read() throws(Fault) -> Block {
        while true {
            if start == input.count, !atEnd { try fill() }
            let piece = try decompress()
            start += piece.consumed
            position += piece.consumed
            if !piece.bytes.isEmpty { return Block(bytes: piece.bytes, position: position) }
            guard piece.consumed == 0, atEnd, start == input.count else { continue }
            guard decompressor.isComplete else {
                throw Fault(
                    "the \(format.rawValue) stream ends too early, after \(position) bytes of it: get a whole file"
                )
            }
            return Block(position: position)
        }
    }

    private func decompress() throws(Fault) -> Decompressor.Piece {
        do throws(CompressionFault) {
            return try decompressor.next(input, from: start, capacity: Self.blockBytes)
        } catch {
            throw Fault(
                "the \(format.rawValue) stream is damaged after byte \(position) of it (\(error.reason)): "
                    + "get a whole file"
            )
        }
    }

    private func fill() throws(Fault) {
        do throws(CommandFault) { input = try file.read(after: [], capacity: Self.readBytes) } catch {
            throw Fault(error.sentence, whole: error)
        }
        start = 0
        atEnd = input.isEmpty
    }

    /// Why there are no more bytes.
    struct Fault: Error {
        let reason: String
        /// The whole fault, where the file itself cannot be read.
        let whole: CommandFault?

        init(_ reason: String, whole: CommandFault? = nil) { (self.reason, self.whole) = (reason, whole) }
    }
}
