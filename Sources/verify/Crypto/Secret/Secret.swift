internal import COpenSSL

/// Secret bytes: wiped by OpenSSL when the last owner goes, never printed, compared in constant time.
@safe package final class Secret: Sendable {
    package let count: Int
    // Written by the initialisers only, read by all owners, freed in deinit.
    nonisolated(unsafe) private let pointer: UnsafeMutableRawPointer

    package convenience init(_ bytes: [UInt8]) { self.init(bytes.span) }

    package convenience init(_ bytes: Span<UInt8>) {
        unsafe self.init(count: bytes.count) { target in
            // Both have as many bytes.
            unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
        }
    }

    /// - Parameter fill: must write all `count` bytes.
    init(count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        // At least one byte, since OpenSSL allocates none for zero.
        guard let pointer = unsafe CRYPTO_zalloc(max(count, 1), nil, 0) else { preconditionFailure("out of memory") }
        self.count = count
        unsafe self.pointer = unsafe pointer
        unsafe fill(UnsafeMutableRawBufferPointer(start: pointer, count: count))
    }

    deinit {
        // The only reference to the memory, as large as it was asked for.
        unsafe CRYPTO_clear_free(pointer, max(count, 1), nil, 0)
    }

    /// Calls `body` with the bytes, which live as long as the call.
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        // Initialised memory of `count` bytes, which this object keeps alive.
        defer { withExtendedLifetime(self) {} }
        return unsafe body(UnsafeRawBufferPointer(start: pointer, count: count))
    }

    package func isEqual(to other: Secret) -> Bool {
        unsafe withUnsafeBytes { left in
            unsafe other.withUnsafeBytes { right in
                // Both are read for `count` bytes, which they have where the counts agree.
                unsafe left.count == right.count && CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
            }
        }
    }
}

extension Secret: CustomStringConvertible, CustomReflectable {
    package var description: String { "secret" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Compares codes and tags without revealing where they differ.
package enum ConstantTime {
    /// The counts are not secret.
    package static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        // OpenSSL reads `count` bytes of both.
        return unsafe left.withUnsafeBytes { left in
            unsafe right.withUnsafeBytes { unsafe CRYPTO_memcmp(left.baseAddress, $0.baseAddress, left.count) == 0 }
        }
    }
}
