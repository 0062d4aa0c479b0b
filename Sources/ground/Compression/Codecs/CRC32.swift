internal import CZlib

/// zlib's CRC-32 (RFC 1952, section 8).
package enum CRC32 {
    /// - Parameter sum: of the bytes before.
    package static func of(_ bytes: some Collection<UInt8>, after sum: UInt32 = 0) -> UInt32 {
        let whole = bytes.withContiguousStorageIfAvailable { bytes in
            var (sum, place) = (UInt(sum), 0)
            while place < bytes.count {
                let count = min(bytes.count - place, 1 << 30)
                // The call reads so many bytes, which lie in the collection.
                sum = unsafe crc32(sum, bytes.baseAddress?.advanced(by: place), UInt32(count))
                place += count
            }
            return UInt32(truncatingIfNeeded: sum)
        }
        return whole ?? of(Array(bytes), after: sum)
    }
}
