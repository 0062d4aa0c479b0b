internal import CLibCBOR

/// One head as libcbor decodes it, after our own check that it has the shortest form.
struct CBORHead {
    /// None of libcbor's where no callback came, or one for what is refused before.
    let kind: CLibCBOR_kind
    /// The number, the simple value, a string's length, or the count of elements or pairs.
    let value: UInt64
    /// Bytes of the head, and of the string that follows it.
    let byteCount: Int

    /// - Parameter end: nothing at or past this offset is read.
    init(_ bytes: Span<UInt8>, at start: Int, end: Int) throws(CBORFault) {
        if let code = Self.fault(bytes, at: start, end: end) { throw CBORFault(code: code, offset: start) }
        var head = CLibCBOR_head()
        // libcbor reads at most the given count of bytes, and fills in `head`, which outlives the call.
        let result = unsafe bytes.extracting(start..<end).withUnsafeBufferPointer { buffer in
            unsafe CLibCBOR_decode(buffer.baseAddress, buffer.count, &head)
        }
        switch result.status {
        case CBOR_DECODER_FINISHED: break
        case CBOR_DECODER_NEDATA: throw CBORFault(code: .truncated, offset: start)
        default: throw CBORFault(code: .unsupported, offset: start)
        }
        (kind, value, byteCount) = (head.kind, head.value, result.read)
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
