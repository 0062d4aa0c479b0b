import Compression
import Testing

@Suite("compression formats")
struct FormatTests {
    @Test(
        arguments: [
            ([0x1F, 0x8B, 0x08, 0x00], .gzip), ([0x1F, 0x8B], .gzip), ([0x1F], nil), ([], nil),
            ([0x28, 0xB5, 0x2F, 0xFD], .zstd), ([0x28, 0xB5, 0x2F], nil), ([0x50, 0x2A, 0x4D, 0x18], .zstd),
            ([0x5F, 0x2A, 0x4D, 0x18], .zstd), ([0x60, 0x2A, 0x4D, 0x18], nil), ([0x7B, 0x22, 0x74, 0x6F], nil),
        ] as [([UInt8], CompressionFormat?)]
    )
    func `a file is recognised by its first bytes`(head: [UInt8], format: CompressionFormat?) {
        #expect(CompressionFormat(recognising: head) == format)
    }

    @Test(
        arguments: [
            ("capture.ndjson.gz", .gzip), ("capture.zst", .zstd), ("capture.ndjson", nil), ("-", nil), ("gz", nil),
            ("a.zst/b", nil), ("capture.zstd", nil),
        ] as [(String, CompressionFormat?)]
    )
    func `a name asks for a format by its ending`(name: String, format: CompressionFormat?) {
        #expect(CompressionFormat(naming: name) == format)
    }
}
