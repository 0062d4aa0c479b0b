/// Whole texts at a time: compared and copied as bytes.
package enum Bytes {
    @inline(__always)
    package static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool { ByteScan.areEqual(left, right) }

    package static func areEqual(_ bytes: Span<UInt8>, _ text: String) -> Bool {
        ByteScan.areEqual(bytes, text.utf8Span.span)
    }

    package static func areEqual(_ left: String, _ right: String) -> Bool {
        ByteScan.areEqual(left.utf8Span.span, right.utf8Span.span)
    }

    package static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
        // The buffer is copied inside the call.
        unsafe bytes.withUnsafeBufferPointer { unsafe [UInt8]($0) }
    }
}
