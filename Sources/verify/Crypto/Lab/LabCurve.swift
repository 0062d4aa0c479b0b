internal import COpenSSL

/// The two curves of App Attest, as the lab signs over them.
package enum LabCurve: String, Sendable, CaseIterable {
    case p256, p384

    /// Bytes of a coordinate or a scalar.
    package var byteCount: Int { self == .p256 ? 32 : 48 }

    var group: LabGroup { self == .p256 ? LabGroup.p256 : LabGroup.p384 }
}

/// An OpenSSL group with its generator's multiples precomputed; made once per process and never changed after.
@safe final class LabGroup: Sendable {
    static let p256 = LabGroup(curve: NID_X9_62_prime256v1)
    static let p384 = LabGroup(curve: NID_secp384r1)

    // Written by the initialiser only, and OpenSSL reads groups without changing them: safe to share over threads.
    nonisolated(unsafe) let pointer: OpaquePointer

    private init(curve: Int32) {
        // The new group is owned by this object, which lives as long as the process.
        guard let group = unsafe EC_GROUP_new_by_curve_name(curve) else {
            preconditionFailure("OpenSSL knows both NIST curves")
        }
        // Without the table a P-384 multiplication costs ten times as much.
        precondition(unsafe EC_GROUP_precompute_mult(group, nil) == 1, "the generator's multiples fit in memory")
        unsafe pointer = group
    }

    /// The group's order n; lives as long as the group.
    @unsafe var order: OpaquePointer {
        // EC_GROUP_get0_order lends a number that the group owns.
        guard let order = unsafe EC_GROUP_get0_order(pointer) else { preconditionFailure("a curve has an order") }
        return unsafe order
    }
}

/// One OpenSSL big number with its owner.
@safe struct LabNumber: ~Copyable {
    // Owned: made in the initialisers, freed in deinit, never handed out beyond a call.
    let pointer: OpaquePointer

    init() {
        // BN_new fails only when memory is out.
        guard let number = unsafe BN_new() else { preconditionFailure("out of memory") }
        unsafe pointer = number
    }

    init(bigEndian bytes: [UInt8]) {
        // BN_bin2bn reads exactly `count` bytes and allocates the number that it returns.
        let number = unsafe bytes.withUnsafeBufferPointer { unsafe BN_bin2bn($0.baseAddress, Int32($0.count), nil) }
        guard let number = unsafe number else { preconditionFailure("out of memory") }
        unsafe pointer = number
    }

    deinit { unsafe BN_free(pointer) }

    var isZero: Bool { unsafe BN_is_zero(pointer) == 1 }

    /// Big-endian, padded with zeros to `count` bytes.
    func bytes(_ count: Int) -> [UInt8] {
        [UInt8](capacity: count) { output in
            // BN_bn2binpad writes exactly `count` bytes or fails.
            unsafe output.withUnsafeMutableBufferPointer { buffer, initialized in
                let written = unsafe BN_bn2binpad(pointer, buffer.baseAddress, Int32(count))
                precondition(written == Int32(count), "a reduced number fits its field")
                initialized = count
            }
        }
    }
}

// Arithmetic modulo a group's order, in place: every number is owned by its value, the order by its group.
extension LabNumber {
    func reduce(modulo group: LabGroup, scratch: borrowing LabScratch) {
        Self.require(unsafe BN_nnmod(pointer, pointer, group.order, scratch.pointer))
    }

    func multiply(by other: borrowing LabNumber, modulo group: LabGroup, scratch: borrowing LabScratch) {
        Self.require(unsafe BN_mod_mul(pointer, pointer, other.pointer, group.order, scratch.pointer))
    }

    func add(_ other: borrowing LabNumber, modulo group: LabGroup, scratch: borrowing LabScratch) {
        Self.require(unsafe BN_mod_add(pointer, pointer, other.pointer, group.order, scratch.pointer))
    }

    /// The number must not be a multiple of the order.
    func invert(modulo group: LabGroup, scratch: borrowing LabScratch) {
        let result = unsafe BN_mod_inverse(pointer, pointer, group.order, scratch.pointer)
        Self.require(unsafe result == nil ? 0 : 1)
    }

    private static func require(_ status: Int32) {
        precondition(status == 1, "arithmetic modulo a prime fails only when memory is out")
    }
}

/// Scratch of one computation.
@safe struct LabScratch: ~Copyable {
    // Owned: made in the initialiser and freed in deinit.
    let pointer: OpaquePointer

    init() {
        // BN_CTX_new fails only when memory is out.
        guard let scratch = unsafe BN_CTX_new() else { preconditionFailure("out of memory") }
        unsafe pointer = scratch
    }

    deinit { unsafe BN_CTX_free(pointer) }
}

/// One curve point with its owner.
@safe struct LabPoint: ~Copyable {
    private let group: LabGroup
    // Owned: made in the initialiser and freed in deinit.
    private let pointer: OpaquePointer

    /// `scalar` times the generator.
    init(_ scalar: borrowing LabNumber, on group: LabGroup, scratch: borrowing LabScratch) {
        self.group = group
        // EC_POINT_new fails only when memory is out.
        guard let point = unsafe EC_POINT_new(group.pointer) else { preconditionFailure("out of memory") }
        unsafe pointer = point
        unsafe Self.multiply(scalar, into: point, group: group, scratch: scratch)
    }

    deinit { unsafe EC_POINT_free(pointer) }

    private static func multiply(
        _ scalar: borrowing LabNumber,
        into point: OpaquePointer,
        group: LabGroup,
        scratch: borrowing LabScratch
    ) {
        if group === LabGroup.p256 {
            // P-256 has a separate fast path for the generator.
            let done = unsafe EC_POINT_mul(group.pointer, point, scalar.pointer, nil, nil, scratch.pointer)
            precondition(done == 1, "a scalar times the generator")
            return
        }
        // (k − 1)·G + 1·G: with a second point OpenSSL takes the table of multiples, not the constant-time ladder.
        let less = LabNumber(bigEndian: scalar.bytes(LabCurve.p384.byteCount))
        let one = LabNumber(bigEndian: [1])
        let generator = unsafe EC_GROUP_get0_generator(group.pointer)
        // All five objects are alive for these calls; the generator is the group's own.
        precondition(unsafe BN_sub_word(less.pointer, 1) == 1, "a scalar of at least one")
        let done = unsafe EC_POINT_mul(
            group.pointer,
            point,
            less.pointer,
            generator,
            one.pointer,
            scratch.pointer
        )
        precondition(done == 1, "a scalar times the generator")
    }

    func x(_ scratch: borrowing LabScratch) -> LabNumber {
        let x = LabNumber()
        // The affine x is written into the number made above.
        let done = unsafe EC_POINT_get_affine_coordinates(group.pointer, pointer, x.pointer, nil, scratch.pointer)
        precondition(done == 1, "the point is not at infinity")
        return x
    }

    /// The X9.63 form: 04 ‖ X ‖ Y, or (02 or 03) ‖ X.
    func x963(compressed: Bool, byteCount: Int, scratch: borrowing LabScratch) -> [UInt8] {
        let form = compressed ? POINT_CONVERSION_COMPRESSED : POINT_CONVERSION_UNCOMPRESSED
        let count = compressed ? byteCount + 1 : 2 * byteCount + 1
        return [UInt8](capacity: count) { output in
            // EC_POINT_point2oct writes at most `count` bytes, which the buffer has.
            unsafe output.withUnsafeMutableBufferPointer { buffer, initialized in
                initialized = unsafe EC_POINT_point2oct(
                    group.pointer,
                    pointer,
                    form,
                    buffer.baseAddress,
                    count,
                    scratch.pointer
                )
            }
        }
    }
}
