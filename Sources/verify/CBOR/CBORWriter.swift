internal import CLibCBOR

/// Deterministic encoding (RFC 8949, 4.2.1) with libcbor's encoder: the shortest heads, definite lengths.
///
/// The caller writes as many items as it announces, and a map's keys in ascending order of their encoded bytes.
package struct CBORWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: as many bytes are written without growing.
    package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    package mutating func unsigned(_ value: UInt64) {
        // The buffer holds the longest head; the same goes for every call below.
        unsafe append { unsafe cbor_encode_uint(value, $0, $1) }
    }

    /// −1 − `value`, as RFC 8949 writes major type 1.
    package mutating func negative(_ value: UInt64) {
        unsafe append { unsafe cbor_encode_negint(value, $0, $1) }
    }

    package mutating func bytes(_ value: [UInt8]) { bytes(value.span) }

    package mutating func bytes(_ value: Span<UInt8>) {
        let count = value.count
        unsafe append { unsafe cbor_encode_bytestring_start(count, $0, $1) }
        append(value)
    }

    package mutating func text(_ value: String) { text(utf8: value.utf8Span.span) }

    package mutating func text(utf8: [UInt8]) { text(utf8: utf8.span) }

    /// - Parameter utf8: valid UTF-8.
    package mutating func text(utf8: Span<UInt8>) {
        let count = utf8.count
        unsafe append { unsafe cbor_encode_string_start(count, $0, $1) }
        append(utf8)
    }

    private mutating func append(_ value: Span<UInt8>) {
        // The span's bytes live as long as the call.
        unsafe value.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    /// The head of an array: `count` items follow.
    package mutating func array(_ count: Int) {
        precondition(count >= 0, "a count")
        unsafe append { unsafe cbor_encode_array_start(count, $0, $1) }
    }

    /// The head of a map: `count` pairs of key and value follow.
    package mutating func map(_ count: Int) {
        precondition(count >= 0, "a count")
        unsafe append { unsafe cbor_encode_map_start(count, $0, $1) }
    }

    package mutating func bool(_ value: Bool) {
        unsafe append { unsafe cbor_encode_bool(value, $0, $1) }
    }

    package mutating func null() {
        unsafe append { unsafe cbor_encode_null($0, $1) }
    }

    private mutating func append(_ encode: (UnsafeMutablePointer<UInt8>?, Int) -> Int) {
        var head: (UInt64, UInt64) = (0, 0)
        // The encoder writes at most nine bytes into sixteen and says how many; only those are copied.
        unsafe withUnsafeMutableBytes(of: &head) { buffer in
            let count = unsafe encode(buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), buffer.count)
            precondition(count > 0, "the longest head has nine bytes")
            unsafe bytes.append(contentsOf: buffer.prefix(count))
        }
    }
}
