/// One direction of one format: a library's stream.
protocol StreamCodec: AnyObject {
    /// Takes bytes from `input` and puts bytes into `output`, as many as it can.
    ///
    /// - Parameter ends: nothing follows the input.
    func run(
        _ input: UnsafeRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer,
        ends: Bool
    ) throws(CompressionFault) -> CodecProgress
}

struct CodecProgress {
    var consumed = 0
    var produced = 0
    /// Decoders: a member or frame ended here. Encoders: everything is written.
    var isDone = false
}

extension StreamCodec {
    /// One call on the bytes from `start` on, with room for `capacity` bytes.
    func step(
        _ input: [UInt8],
        from start: Int,
        capacity: Int,
        ends: Bool
    ) throws(CompressionFault) -> (output: [UInt8], progress: CodecProgress) {
        var result: Result<CodecProgress, CompressionFault> = .success(CodecProgress())
        // The codec sees the rest of the input and the room that was allocated, and says how much of it it filled.
        let output = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { room, filled in
            unsafe input.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[start...])
                result = Result { () throws(CompressionFault) in
                    try unsafe run(rest, UnsafeMutableRawBufferPointer(room), ends: ends)
                }
            }
            guard case .success(let progress) = result else { return }
            precondition(
                progress.consumed <= input.count - start && progress.produced <= capacity,
                "it keeps to its room"
            )
            filled = progress.produced
        }
        return (output, try result.get())
    }
}

/// Why bytes cannot be compressed or decompressed.
package struct CompressionFault: Error, Equatable, Sendable {
    /// The library's own words.
    package let reason: String

    init(_ reason: String) { self.reason = reason }
}
