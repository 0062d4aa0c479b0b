/// Decompresses a stream of gzip members or zstd frames, one after the other, in pieces of bounded size.
package final class Decompressor {
    /// Bytes that came out, and how much of the input they took.
    package struct Piece: Equatable, Sendable {
        package let bytes: [UInt8]
        package let consumed: Int
    }

    private let codec: any StreamCodec
    /// Whether the stream may end here: after a whole member or frame.
    package private(set) var isComplete = false

    package init(_ format: CompressionFormat) throws(CompressionFault) {
        switch format {
        case .gzip: codec = try GzipDecoder()
        case .zstd: codec = try ZstdDecoder()
        }
    }

    /// Decompresses `input` from `start` on; what it does not take is given again.
    ///
    /// - Parameter capacity: the most bytes to come out.
    /// - Returns: nothing taken and nothing out: more input is needed, or the stream has ended.
    package func next(_ input: [UInt8], from start: Int, capacity: Int) throws(CompressionFault) -> Piece {
        // Without input a library would wait for the next member.
        guard start < input.count || !isComplete else { return Piece(bytes: [], consumed: 0) }
        let (bytes, progress) = try codec.step(input, from: start, capacity: capacity, ends: false)
        isComplete = progress.isDone
        return Piece(bytes: bytes, consumed: progress.consumed)
    }
}
