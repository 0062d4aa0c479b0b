import CBOR
import CLibCBOR
import TestKit

/// Reads `bytes` as one item, the way every caller does.
func read(_ bytes: [UInt8], maxDepth: Int = 8, maxItems: Int = 256) throws(CBORFault) -> CBORItem {
    try CBORReader.read(bytes.span, in: 0..<bytes.count, maxDepth: maxDepth, maxItems: maxItems)
}

/// The fault of `bytes`, nil if they are read.
func fault(_ bytes: [UInt8], maxDepth: Int = 8, maxItems: Int = 256) -> CBORFault? {
    do {
        _ = try read(bytes, maxDepth: maxDepth, maxItems: maxItems)
        return nil
    } catch { return error }
}

func hex(_ text: String) -> [UInt8] {
    WycheproofVectors.bytes(hex: text.filter { $0 != " " })
}

/// Writes what was read: the strict reader's input is the writer's output.
func write(_ item: CBORItem, of bytes: [UInt8], to writer: inout CBORWriter) {
    switch item {
    case .unsigned(let value): writer.unsigned(value)
    case .negative(let value): writer.negative(value)
    case .bytes(let range): writer.bytes(Array(bytes[range]))
    case .text(let range): writer.text(String(decoding: bytes[range], as: UTF8.self))
    case .array(let elements):
        writer.array(elements.count)
        for element in elements { write(element, of: bytes, to: &writer) }
    case .map(let entries):
        writer.map(entries.count)
        for entry in entries {
            write(entry.key, of: bytes, to: &writer)
            write(entry.value, of: bytes, to: &writer)
        }
    case .simple(let value):
        if value == 22 { writer.null() } else { writer.bool(value == 21) }
    }
}

/// libcbor's own loader: lax, and the other half of the comparison.
enum LaxLoader {
    /// Whether some byte could be the head of a collection with a count of 32 or 64 bits: libcbor allocates whatever
    /// such a head claims, gigabytes included.
    static func mayAllocateHugely(_ bytes: [UInt8]) -> Bool {
        bytes.contains { [0x9A, 0x9B, 0xBA, 0xBB].contains($0) }
    }

    /// - Returns: how many bytes it took as one item, nil if it refused.
    static func byteCount(_ bytes: [UInt8]) -> Int? {
        var result = cbor_load_result()
        // libcbor reads at most `count` bytes; the item is ours and released at once.
        guard let item = unsafe cbor_load(bytes, bytes.count, &result) else { return nil }
        var owned: UnsafeMutablePointer<cbor_item_t>? = unsafe item
        unsafe cbor_decref(&owned)
        return result.read
    }
}

/// A small generator with a seed: the same bytes in every run.
struct SeededBytes {
    private var state: UInt64

    init(seed: UInt64) { state = seed &+ 0x9E37_79B9_7F4A_7C15 }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let mixed = (state ^ state >> 33) &* 0xFF51_AFD7_ED55_8CCD
        return mixed ^ mixed >> 29
    }

    /// A number in `0 ..< bound`.
    mutating func next(below bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
