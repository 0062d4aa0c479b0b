/// Compresses a stream. The bytes do not depend on how the input is cut.
package final class Compressor {
    private static let capacity = 128 << 10
    private let codec: any StreamCodec

    package init(_ format: CompressionFormat) throws(CompressionFault) {
        switch format {
        case .gzip: codec = try GzipEncoder()
        case .zstd: codec = try ZstdEncoder()
        }
    }

    /// - Parameter write: called with what is ready, which lags behind the input.
    package func append(_ bytes: [UInt8], write: ([UInt8]) throws -> Void) throws {
        var start = 0
        while start < bytes.count {
            let (output, progress) = try codec.step(bytes, from: start, capacity: Self.capacity, ends: false)
            precondition(progress.consumed > 0 || !output.isEmpty, "a codec that has room moves")
            start += progress.consumed
            if !output.isEmpty { try write(output) }
        }
    }

    /// Completes the stream. Nothing may be appended after it.
    package func finish(write: ([UInt8]) throws -> Void) throws {
        while true {
            let (output, progress) = try codec.step([], from: 0, capacity: Self.capacity, ends: true)
            if !output.isEmpty { try write(output) }
            if progress.isDone { return }
            precondition(!output.isEmpty, "a codec that has room ends")
        }
    }
}
