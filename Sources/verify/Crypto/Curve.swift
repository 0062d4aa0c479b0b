internal import COpenSSL

/// One of OpenSSL's named curves. Its group is made once, lives as long as the process and is only read.
@safe struct Curve: Sendable {
    static let p256 = Curve(nid: NID_X9_62_prime256v1, fieldBytes: 32)
    static let p384 = Curve(nid: NID_secp384r1, fieldBytes: 48)

    private let nid: Int32
    /// Bytes of a coordinate, and of a scalar.
    let fieldBytes: Int
    // OpenSSL allows concurrent reads of a group; nothing here changes it after construction.
    nonisolated(unsafe) private let group: OpaquePointer

    private init(nid: Int32, fieldBytes: Int) {
        // The group is never freed: the curve is a constant of the process.
        guard let group = unsafe EC_GROUP_new_by_curve_name(nid) else {
            preconditionFailure("OpenSSL lacks a NIST curve")
        }
        (self.nid, self.fieldBytes) = (nid, fieldBytes)
        unsafe self.group = unsafe group
    }

    /// Bytes of the X9.63 uncompressed form.
    var pointBytes: Int { 1 + 2 * fieldBytes }

    /// The number of points; it belongs to the curve.
    @unsafe var order: OpaquePointer? { unsafe EC_GROUP_get0_order(group) }

    /// Whether `x963` is the uncompressed form of a point on the curve (never the point at infinity).
    func contains(_ x963: Span<UInt8>) -> Bool {
        guard x963.count == pointBytes, x963[0] == 0x04 else { return false }
        // OpenSSL reads `count` bytes, refuses coordinates ≥ p and points off the curve.
        return unsafe withPoint { group, point in
            let result = unsafe x963.withUnsafeBufferPointer {
                unsafe EC_POINT_oct2point(group, point, $0.baseAddress, $0.count, nil)
            }
            return result == 1
        }
    }

    /// Calls `body` with the group and a fresh point.
    @unsafe func withPoint<Result>(_ body: (_ group: OpaquePointer, _ point: OpaquePointer) -> Result) -> Result {
        // The point is ours and freed on the way out.
        guard let point = unsafe EC_POINT_new(group) else { preconditionFailure("out of memory") }
        defer { unsafe EC_POINT_free(point) }
        return unsafe body(group, point)
    }

    /// A key object without a point, owned by the caller.
    func makeKey() -> OpaquePointer {
        // Building from the cached group is cheaper than by name, which makes the group again.
        guard let key = unsafe EC_KEY_new(), unsafe EC_KEY_set_group(key, group) == 1 else {
            preconditionFailure("out of memory")
        }
        return unsafe key
    }
}
