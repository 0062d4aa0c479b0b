import CBOR
import TestKit
import Testing

@Suite("Small maps, read without an array")
struct CBORPlainMapTests {
    private static let names = ["signature", "authenticatorData", "apple_bundle_version_01", "validationCategory", "a"]
    private static let seeds: [[UInt8]] = [
        hex("a2 697369676e6174757265 43300602 7161757468656e74696361746f7244617461 4401020304"),
        hex("a2 77 6170706c655f62756e646c655f76657273696f6e5f3031 64 31333134 6161 1903e8"),
        hex("a3 6161 1818 72 76616c69646174696f6e43617465676f7279 4404000000 6162 581801")
            + [UInt8](repeating: 7, count: 23),
        hex("a0"),
    ]

    @Test(arguments: seeds, 0..<4 as Range<UInt64>)
    func `a map that is read has the strict reader's members`(seed: [UInt8], number: UInt64) throws {
        #expect(CBORPlainMap(seed.span, in: 0..<seed.count) != nil)
        var (random, understood) = (SeededBytes(seed: number), 0)
        for round in 0..<5000 {
            var bytes = seed
            if round > 0 {
                for _ in 0...random.next(below: 2) {
                    bytes[random.next(below: bytes.count)] = UInt8(truncatingIfNeeded: random.next(below: 256))
                }
            }
            guard let map = CBORPlainMap(bytes.span, in: 0..<bytes.count) else { continue }
            understood += 1
            guard case .map(let entries) = try read(bytes) else {
                Issue.record("no map: \(bytes)")
                continue
            }
            for name in Self.names {
                let strict = entries.first { entry in
                    guard case .text(let range) = entry.key else { return false }
                    return bytes[range].elementsEqual(name.utf8)
                }
                #expect(map.value(of: name, bytes.span) == strict?.value, "\(name) of \(bytes)")
            }
        }
        #expect(understood > 0)
    }

    @Test(
        arguments: [
            "", "a1", "a1 6161", "a2 6161 00 6161 01", "bf 6161 00 ff", "a1 6161 00 00", "b801 6161 00",
            "a1 7801 61 00",
            "a1 6161 1800", "a1 6161 190018", "a1 6161 5801 00", "a1 61ff 00", "a1 6161 f5", "a1 01 02", "a1 6161 a0",
        ]
    )
    func `everything else is left to the strict reader`(text: String) {
        let bytes = hex(text)
        #expect(CBORPlainMap(bytes.span, in: 0..<bytes.count) == nil)
    }
}
