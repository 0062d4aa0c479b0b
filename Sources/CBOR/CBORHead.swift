internal import CLibCBOR

/// One head as libcbor decodes it, after our own check that it has the shortest form.
struct CBORHead {
    enum Kind { case unsigned, negative, bytes, text, array, map, simple }

    let kind: Kind
    /// The number, the simple value, a string's length, or the count of elements or pairs.
    let value: UInt64
    /// Bytes of the head, and of the string that follows it.
    let byteCount: Int

    /// - Parameter end: nothing at or past this offset is read.
    init(_ bytes: Span<UInt8>, at start: Int, end: Int) throws(CBORFault) {
        if let code = Self.fault(bytes, at: start, end: end) { throw CBORFault(code: code, offset: start) }
        var event = Event()
        // libcbor reads at most the given count of bytes, and calls back with `event`, which outlives the call.
        let result = unsafe bytes.extracting(start..<end).withUnsafeBufferPointer { buffer in
            unsafe withUnsafeMutablePointer(to: &event) { event in
                unsafe cbor_stream_decode(buffer.baseAddress, buffer.count, Callbacks.shared, event)
            }
        }
        switch result.status {
        case CBOR_DECODER_FINISHED: break
        case CBOR_DECODER_NEDATA: throw CBORFault(code: .truncated, offset: start)
        default: throw CBORFault(code: .unsupported, offset: start)
        }
        guard let kind = event.kind else { throw CBORFault(code: .unsupported, offset: start) }
        (self.kind, value, byteCount) = (kind, event.value, result.read)
    }

    /// The string that this head announces, where head and string end at `end`.
    func payload(endingAt end: Int) -> Range<Int> {
        // libcbor has counted the string into `byteCount`, so its length fits.
        (end - Int(value))..<end
    }

    /// Checks for forms that RFC 8949 allows and we do not, and for heads that are longer than necessary.
    private static func fault(_ bytes: Span<UInt8>, at start: Int, end: Int) -> CBORFault.Code? {
        guard start < end else { return .truncated }
        let major = bytes[start] >> 5
        let information = bytes[start] & 0x1F
        if information == 31 { return major == 7 || (2...5).contains(major) ? .indefiniteLength : .unsupported }
        if information > 27 { return .unsupported }
        if major == 6 { return .tag }
        if major == 7 { return (20...23).contains(information) ? nil : .unsupported }
        guard information >= 24 else { return nil }
        let width = 1 << Int(information - 24)
        guard width < end - start else { return .truncated }
        var value: UInt64 = 0
        for index in 1...width { value = value << 8 | UInt64(bytes[start + index]) }
        // The smallest number that needs this many bytes: 24, then 2⁸, 2¹⁶, 2³².
        let least: UInt64 = width == 1 ? 24 : 1 << UInt64(4 * width)
        return value < least ? .nonMinimalHead : nil
    }
}

/// The result of a callback; a stray second call leaves no kind.
private struct Event {
    var kind: CBORHead.Kind?
    var value: UInt64 = 0
}

private enum Callbacks {
    /// Written once, only read afterwards and never freed: every lane's decoder reads through it.
    nonisolated(unsafe) static let shared: UnsafePointer<cbor_callbacks> = unsafe make()

    private static func make() -> UnsafePointer<cbor_callbacks> {
        // libcbor's own constant: callbacks that do nothing, for all items that are refused before.
        var callbacks = cbor_empty_callbacks
        unsafe callbacks.uint8 = { unsafe note($0, .unsigned, UInt64($1)) }
        unsafe callbacks.uint16 = { unsafe note($0, .unsigned, UInt64($1)) }
        unsafe callbacks.uint32 = { unsafe note($0, .unsigned, UInt64($1)) }
        unsafe callbacks.uint64 = { unsafe note($0, .unsigned, $1) }
        unsafe callbacks.negint8 = { unsafe note($0, .negative, UInt64($1)) }
        unsafe callbacks.negint16 = { unsafe note($0, .negative, UInt64($1)) }
        unsafe callbacks.negint32 = { unsafe note($0, .negative, UInt64($1)) }
        unsafe callbacks.negint64 = { unsafe note($0, .negative, $1) }
        // A size_t comes as an Int, so that a claimed length from 2⁶³ on is negative here.
        unsafe callbacks.byte_string = { unsafe note($0, .bytes, UInt64(UInt(bitPattern: $2))) }
        unsafe callbacks.string = { unsafe note($0, .text, UInt64(UInt(bitPattern: $2))) }
        unsafe callbacks.array_start = { unsafe note($0, .array, UInt64(UInt(bitPattern: $1))) }
        unsafe callbacks.map_start = { unsafe note($0, .map, UInt64(UInt(bitPattern: $1))) }
        unsafe callbacks.boolean = { unsafe note($0, .simple, $1 ? 21 : 20) }
        unsafe callbacks.null = { unsafe note($0, .simple, 22) }
        unsafe callbacks.undefined = { unsafe note($0, .simple, 23) }
        let pointer = UnsafeMutablePointer<cbor_callbacks>.allocate(capacity: 1)
        unsafe pointer.initialize(to: callbacks)
        return unsafe UnsafePointer(pointer)
    }
}

private func note(_ context: UnsafeMutableRawPointer?, _ kind: CBORHead.Kind, _ value: UInt64) {
    // The context is the decoding call's `Event`, alive until that call returns.
    unsafe context?.assumingMemoryBound(to: Event.self).pointee = Event(kind: kind, value: value)
}
