internal import CZlib

/// zlib's stream, which must stay at one address for its whole life.
@safe final class ZlibStream {
    enum Direction { case inflate, deflate }

    private let direction: Direction
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

    /// - Parameter level: of compression; reading has none.
    init(_ direction: Direction, level: Int32) throws(CompressionFault) {
        self.direction = direction
        unsafe stream.initialize(to: z_stream())
        // The library keeps the address, which is freed only after the stream's end.
        let code = unsafe direction == .inflate ? CZlib_inflateInit(stream) : CZlib_deflateInit(stream, level)
        guard code == Z_OK else { throw CompressionFault("zlib has no memory") }
    }

    deinit {
        // Nothing uses the stream any more.
        _ = unsafe direction == .inflate ? inflateEnd(stream) : deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Lends the stream both buffers for one call.
    func call(
        _ input: UnsafeRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer,
        flush: Int32
    ) throws(CompressionFault) -> CodecProgress {
        // Sizes are 32 bits wide; callers come again with the rest.
        let (given, room) = (UInt32(clamping: input.count), UInt32(clamping: output.count))
        // The library only reads the input; neither address is used after the call.
        unsafe stream.pointee.next_in = UnsafeMutablePointer(
            mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        )
        unsafe stream.pointee.avail_in = given
        unsafe stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_out = room
        let code = unsafe direction == .inflate ? inflate(stream, flush) : deflate(stream, flush)
        let consumed = unsafe given - stream.pointee.avail_in
        let produced = unsafe room - stream.pointee.avail_out
        guard [Z_OK, Z_BUF_ERROR, Z_STREAM_END].contains(code) else { throw CompressionFault(message) }
        return CodecProgress(consumed: Int(consumed), produced: Int(produced), isDone: code == Z_STREAM_END)
    }

    /// Ready for another member.
    func reset() {
        // The stream was made for reading; its windows stay.
        let code = unsafe inflateReset(stream)
        precondition(code == Z_OK, "a stream that was made for reading is reset")
    }

    /// The library's message about its last fault.
    private var message: String {
        // A static text of the library, copied at once.
        unsafe stream.pointee.msg.map { unsafe String(cString: $0) } ?? "no reason was given"
    }
}

/// Reads gzip members.
final class GzipDecoder: StreamCodec {
    private let stream: ZlibStream
    private var hasEnded = false

    init() throws(CompressionFault) { stream = try ZlibStream(.inflate, level: 0) }

    func run(
        _ input: UnsafeRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer,
        ends: Bool
    ) throws(CompressionFault) -> CodecProgress {
        if hasEnded { stream.reset() }
        hasEnded = false
        // Both buffers are the caller's, for this call.
        let progress = try unsafe stream.call(input, output, flush: Z_NO_FLUSH)
        hasEnded = progress.isDone
        return progress
    }
}

/// Writes one gzip member, without name and time: the same bytes give the same file.
final class GzipEncoder: StreamCodec {
    /// zlib's own balance of size and time.
    private static let level: Int32 = 6
    private let stream: ZlibStream

    init() throws(CompressionFault) { stream = try ZlibStream(.deflate, level: Self.level) }

    func run(
        _ input: UnsafeRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer,
        ends: Bool
    ) throws(CompressionFault) -> CodecProgress {
        // Both buffers are the caller's, for this call.
        try unsafe stream.call(input, output, flush: ends ? Z_FINISH : Z_NO_FLUSH)
    }
}
