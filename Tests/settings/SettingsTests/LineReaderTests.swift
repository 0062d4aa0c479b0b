import AppAttest
import Compression
import Crypto
import Foundation
import Settings
import TestKit
import Testing

@Suite("lines of plain and compressed files")
struct LineReaderTests {
    private let directory: ConfigurationDirectory

    init() throws { directory = try ConfigurationDirectory() }

    private func path(_ bytes: [UInt8]) throws -> String {
        try directory.write("lines", bytes)
        return directory.path + "/lines"
    }

    private static func compress(_ bytes: [UInt8], _ format: CompressionFormat?) throws -> [UInt8] {
        guard let format else { return bytes }
        let compressor = try Compressor(format)
        var output: [UInt8] = []
        try compressor.append(bytes) { output += $0 }
        try compressor.finish { output += $0 }
        return output
    }

    private static let formats: [CompressionFormat?] = [nil, .gzip, .zstd]

    /// Two million bytes in lines of many lengths; some are longer than a block.
    private static let lines: [[UInt8]] = (0..<3000).map { index in
        Array("\(index) ".utf8)
            + [UInt8](repeating: UInt8(ascii: "x"), count: index % 1000 == 999 ? 600_000 : index % 70)
    }

    @Test(arguments: formats)
    func `all lines come in order, and all bytes are consumed at the end`(format: CompressionFormat?) throws {
        let file = try Self.compress(Self.lines.flatMap { $0 + [0x0A] }, format)
        let reader = try LineReader(path: try path(file))
        #expect(reader.totalBytes == file.count)
        var (count, consumed) = (0, 0)
        while let line = try reader.next() {
            #expect(line == Self.lines[count])
            count += 1
            #expect(reader.lineNumber == count)
            #expect(reader.bytesConsumed >= consumed && reader.bytesConsumed <= file.count)
            consumed = reader.bytesConsumed
        }
        #expect(count == Self.lines.count && reader.bytesConsumed == file.count && !reader.isCut)
    }

    @Test(arguments: formats)
    func `bytes read ahead do not count as consumed`(format: CompressionFormat?) throws {
        let file = try Self.compress(Self.lines.prefix(900).flatMap { $0 + [0x0A] }, format)
        let reader = try LineReader(path: try path(file))
        _ = try reader.next()
        #expect(reader.bytesConsumed < file.count / 10)
    }

    @Test(arguments: [CompressionFormat.gzip, .zstd], [1, 5, 1000])
    func `a stream that ends too early is one line with its place`(format: CompressionFormat, missing: Int) throws {
        // Bytes that compress badly, so that the cut is behind some lines.
        let lines = (0..<40_000).map { index -> [UInt8] in
            Array(Hexadecimal.encode(Array(SHA256.hash(Array("\(index)".utf8)).bytes.prefix(8))).utf8) + [0x0A]
        }
        let file = try Self.compress(lines.flatMap(\.self), format)
        let reader = try LineReader(path: try path(Array(file.dropLast(missing))))
        let fault = #expect(throws: CommandFault.self) { while try reader.next() != nil {} }
        let sentence = fault?.sentence.replacing(directory.path, with: "DIR") ?? ""
        #expect(reader.lineNumber > 10_000)
        // A stream that failed is not touched again.
        let second = #expect(throws: CommandFault.self) { try reader.next() }
        #expect(second?.sentence == fault?.sentence)
        #expect(
            sentence
                == "cannot read DIR/lines beyond line \(reader.lineNumber): the \(format.rawValue) stream ends too "
                + "early, after \(file.count - missing) bytes of it: get a whole file."
        )
    }

    @Test(arguments: [CompressionFormat.gzip, .zstd])
    func `trailing bytes after a compressed stream are rejected`(format: CompressionFormat) throws {
        let file = try Self.compress(Array("one\ntwo\n".utf8), format)
        let reader = try LineReader(path: try path(file + Array("three\n".utf8)))
        let fault = #expect(throws: CommandFault.self) { while try reader.next() != nil {} }
        #expect(fault?.sentence.contains("stream is damaged after byte \(file.count) of it") ?? false)
    }

    @Test(arguments: [CompressionFormat.gzip, .zstd])
    func `a line of 64 MiB out of a small file is refused`(format: CompressionFormat) throws {
        let compressor = try Compressor(format)
        var file: [UInt8] = []
        let piece = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)
        for _ in 0..<80 { try compressor.append(piece) { file += $0 } }
        try compressor.finish { file += $0 }
        #expect(file.count < 200_000)
        let reader = try LineReader(path: try path(file))
        let fault = #expect(throws: CommandFault.self) { while try reader.next() != nil {} }
        #expect(fault?.sentence.hasSuffix("line 1 is longer than 67108864 bytes.") ?? false)
    }

    /// Some are shorter than the reader's first look for a compressed stream.
    @Test(
        arguments: ["", "{", "\n\n", "abc", "abcd\n", "one\ntwo\n", "one\ntwo", "\ntwo\n", "one\n\u{FEFF}two\n"],
        ["", "\u{FEFF}"]
    )
    func `a byte order mark is no part of the first line, and is kept on a later one`(text: String, mark: String) throws
    {
        let reader = try LineReader(path: try path(Array((mark + text).utf8)))
        var lines: [[UInt8]] = []
        while let line = try reader.next() { lines.append(line) }
        #expect(lines == text.utf8.split(separator: 0x0A).map(Array.init))
        #expect(reader.isCut == (!(mark + text).isEmpty && !text.hasSuffix("\n")))
    }
}
