/// Why bytes cannot be compressed or decompressed.
package struct CompressionFault: Error, Equatable, Sendable {
    /// The library's own words.
    package let reason: String

    init(_ reason: String) { self.reason = reason }
}
