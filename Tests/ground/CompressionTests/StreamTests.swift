import Compression
import Testing

@Suite("compressed streams")
struct StreamTests {
    /// Bytes that compress somewhat, as captures do.
    static func sample(_ count: Int) -> [UInt8] {
        var state: UInt64 = 7
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1
            return UInt8(ascii: "a") + UInt8(state >> 60)
        }
    }

    static func compress(_ bytes: [UInt8], _ format: CompressionFormat, cut: Int = .max) throws -> [UInt8] {
        let compressor = try Compressor(format)
        var output: [UInt8] = []
        var start = 0
        while start < bytes.count {
            let end = cut < bytes.count - start ? start + cut : bytes.count
            try compressor.append(Array(bytes[start..<end])) { output += $0 }
            start = end
        }
        try compressor.finish { output += $0 }
        return output
    }

    /// All bytes that come out, and whether the stream may end there.
    static func decompress(
        _ bytes: [UInt8],
        _ format: CompressionFormat,
        capacity: Int = 1000
    ) throws(CompressionFault) -> (bytes: [UInt8], isComplete: Bool) {
        let decompressor = try Decompressor(format)
        var (output, start): ([UInt8], Int) = ([], 0)
        while true {
            let piece = try decompressor.next(bytes, from: start, capacity: capacity)
            if piece.bytes.isEmpty, piece.consumed == 0 { return (output, decompressor.isComplete) }
            output += piece.bytes
            start += piece.consumed
        }
    }

    @Test(arguments: CompressionFormat.allCases, [0, 1, 70, 1000, 300_000])
    func `what was compressed comes back`(format: CompressionFormat, count: Int) throws {
        let bytes = Self.sample(count)
        let compressed = try Self.compress(bytes, format)
        #expect(CompressionFormat(recognising: Array(compressed.prefix(CompressionFormat.magicBytes))) == format)
        let (read, isComplete) = try Self.decompress(compressed, format)
        #expect(read == bytes && isComplete)
    }

    @Test(arguments: CompressionFormat.allCases, [1, 999, 65_536, 131_072])
    func `compressed bytes do not depend on how the input is cut`(format: CompressionFormat, cut: Int) throws {
        let bytes = Self.sample(300_000)
        #expect(try Self.compress(bytes, format, cut: cut) == Self.compress(bytes, format))
    }

    @Test(arguments: CompressionFormat.allCases)
    func `several members are one stream`(format: CompressionFormat) throws {
        let parts = [Self.sample(500), [], Self.sample(2000)]
        let stream = try parts.flatMap { try Self.compress($0, format) }
        let (read, isComplete) = try Self.decompress(stream, format)
        #expect(read == parts.flatMap(\.self) && isComplete)
    }

    @Test(arguments: CompressionFormat.allCases)
    func `a stream that is cut anywhere is not complete`(format: CompressionFormat) throws {
        let stream = try Self.compress(Self.sample(700), format)
        for count in 0..<stream.count {
            let (read, isComplete) = try Self.decompress(Array(stream.prefix(count)), format)
            #expect(!isComplete && read.count <= 700, "\(count) bytes")
        }
    }

    @Test(arguments: CompressionFormat.allCases)
    func `a changed byte is a fault, or changes nothing`(format: CompressionFormat) throws {
        let bytes = Self.sample(700)
        let stream = try Self.compress(bytes, format)
        var faults = 0
        for index in stream.indices {
            for change: UInt8 in [0x01, 0x80, 0xFF] {
                var damaged = stream
                damaged[index] ^= change
                do throws(CompressionFault) {
                    let (read, isComplete) = try Self.decompress(damaged, format)
                    #expect(!isComplete || read == bytes, "byte \(index)")
                } catch { faults += 1 }
            }
        }
        #expect(faults > stream.count)
    }

    @Test(arguments: CompressionFormat.allCases)
    func `a bomb comes out in pieces of the size asked for`(format: CompressionFormat) throws {
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        let compressor = try Compressor(format)
        var stream: [UInt8] = []
        for _ in 0..<64 { try compressor.append(zeros) { stream += $0 } }
        try compressor.finish { stream += $0 }
        #expect(stream.count < 100_000)
        let decompressor = try Decompressor(format)
        var (total, start, largest) = (0, 0, 0)
        while true {
            let piece = try decompressor.next(stream, from: start, capacity: 4096)
            if piece.bytes.isEmpty, piece.consumed == 0 { break }
            (total, start) = (total + piece.bytes.count, start + piece.consumed)
            largest = max(largest, piece.bytes.count)
        }
        #expect(total == 64 << 20 && largest == 4096 && decompressor.isComplete)
    }

    @Test func `a zstd frame that asks for a window beyond 128 MiB is a fault`() {
        // A frame header without content size, and a window of 2 to the 41st.
        let header: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xF8, 0x00, 0x00]
        #expect(throws: CompressionFault.self) { try Self.decompress(header, .zstd) }
    }
}
