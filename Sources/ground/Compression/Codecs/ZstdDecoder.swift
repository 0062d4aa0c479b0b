internal import CZstd

/// Reads zstd frames.
@safe final class ZstdDecoder: StreamCodec {
    /// The largest window, as a power of two: 128 MiB, which is what `zstd` itself reads without being asked.
    private static let windowLog: Int32 = 27
    private let context: OpaquePointer

    init() throws(CompressionFault) {
        guard let context = unsafe ZSTD_createDCtx() else { throw CompressionFault("zstd has no memory") }
        unsafe self.context = unsafe context
        // No frame can ask for more memory than this.
        let code = unsafe ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.windowLog)
        precondition(ZSTD_isError(code) == 0, "the limit of the window counts")
    }

    deinit {
        // Nothing uses the context any more.
        _ = unsafe ZSTD_freeDCtx(context)
    }

    func run(
        _ input: UnsafeRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer,
        ends: Bool
    ) throws(CompressionFault) -> CodecProgress {
        // Both buffers are the caller's, for this call.
        var source = unsafe ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
        var target = unsafe ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let left = unsafe ZSTD_decompressStream(context, &target, &source)
        try ZstdError.check(left)
        return unsafe CodecProgress(consumed: source.pos, produced: target.pos, isDone: left == 0)
    }
}

enum ZstdError {
    /// - Parameter code: what a call returned: a count, or an error.
    static func check(_ code: Int) throws(CompressionFault) {
        guard ZSTD_isError(code) != 0 else { return }
        // A static text of the library, copied at once.
        throw unsafe CompressionFault(String(cString: ZSTD_getErrorName(code)))
    }
}
