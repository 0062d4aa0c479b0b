internal import CZstd

/// Writes one zstd frame with a checksum.
@safe final class ZstdEncoder: StreamCodec {
    /// zstd's own balance of size and time.
    private static let level: Int32 = 3
    private let context: OpaquePointer

    init() throws(CompressionFault) {
        guard let context = unsafe ZSTD_createCCtx() else { throw CompressionFault("zstd has no memory") }
        unsafe self.context = unsafe context
        // The context was just made.
        for (parameter, value) in [(ZSTD_c_compressionLevel, Self.level), (ZSTD_c_checksumFlag, 1)] {
            let code = unsafe ZSTD_CCtx_setParameter(context, parameter, value)
            precondition(ZSTD_isError(code) == 0, "level and checksum count")
        }
    }

    deinit {
        // Nothing uses the context any more.
        _ = unsafe ZSTD_freeCCtx(context)
    }

    func run(
        _ input: UnsafeRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer,
        ends: Bool
    ) throws(CompressionFault) -> CodecProgress {
        // Both buffers are the caller's, for this call.
        var source = unsafe ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = unsafe ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let left = unsafe ZSTD_compressStream2(context, &target, &source, ends ? ZSTD_e_end : ZSTD_e_continue)
        try ZstdError.check(left)
        return unsafe CodecProgress(consumed: source.pos, produced: target.pos, isDone: ends && left == 0)
    }
}
