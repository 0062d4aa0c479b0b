/// How a file is compressed.
package enum CompressionFormat: String, Sendable, CaseIterable {
    case gzip
    case zstd

    /// The number of first bytes that decide.
    package static let magicBytes = 4

    /// The format that a file's first bytes show; nil for a plain file.
    package init?(recognising head: [UInt8]) {
        if head.starts(with: [0x1F, 0x8B]) {
            self = .gzip
        } else if head.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) || Self.isSkippable(head) {
            self = .zstd
        } else {
            return nil
        }
    }

    /// The format that a file's name asks for: `.gz` or `.zst`; nil for a plain file.
    package init?(naming path: String) {
        if path.hasSuffix(".gz") {
            self = .gzip
        } else if path.hasSuffix(".zst") {
            self = .zstd
        } else {
            return nil
        }
    }

    /// Parallel compressors start a zstd file with a private frame, which decoders skip.
    private static func isSkippable(_ head: [UInt8]) -> Bool {
        head.count >= magicBytes && head[0] & 0xF0 == 0x50 && head[1...].starts(with: [0x2A, 0x4D, 0x18])
    }
}
