import CBOR
import Testing

/// The strict reader against libcbor's lax loader, and against its own writer.
@Suite struct CBORDifferentialTests {
    /// Seeds: one of each shape that devices and the ledger write.
    private static let seeds: [[UInt8]] = [
        hex("a2 697369676e6174757265 43300602 7161757468656e74696361746f7244617461 4401020304"),
        hex(
            "a3 63666d74 6f6170706c652d61707061747465737 4 6761747453746d74 a1 63783563 82 4101 4102 6861757468446174 61 40"
        ),
        hex(
            "a5010203262001215820" + String(repeating: "11", count: 32) + "225820" + String(repeating: "22", count: 32)
        ),
        hex("a277 6170706c655f62756e646c655f76657273696f6e5f3031 64 31333134 1a ffffffff f5"),
        hex("8a 00 1818 190100 1a00010000 1b0000000100000000 20 3818 f4 f6 f7"),
    ]

    @Test(arguments: seeds)
    func `a seed is read and written back to the same bytes`(seed: [UInt8]) throws {
        let item = try read(seed)
        #expect(LaxLoader.byteCount(seed) == seed.count)
        // undefined has no place in the writer.
        guard !seed.contains(0xF7) else { return }
        var writer = CBORWriter()
        write(item, of: seed, to: &writer)
        #expect(writer.bytes == seed)
    }

    @Test(arguments: seeds)
    func `every truncation is refused`(seed: [UInt8]) {
        for count in 0..<seed.count { #expect(fault(Array(seed.prefix(count)))?.code == .truncated, "\(count) bytes") }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `on random bytes the two readers differ only where strictness says so`(seed: UInt64) {
        var random = SeededBytes(seed: seed)
        var accepted = 0
        for _ in 0..<20_000 {
            let count = 1 + random.next(below: 12)
            let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            if compare(bytes) { accepted += 1 }
        }
        #expect(accepted > 100)
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `on mutated objects the two readers differ only where strictness says so`(seed: UInt64) {
        var random = SeededBytes(seed: seed &+ 100)
        var (accepted, refused) = (0, 0)
        for _ in 0..<10_000 {
            var bytes = Self.seeds[random.next(below: Self.seeds.count)]
            for _ in 0...random.next(below: 3) { mutate(&bytes, &random) }
            if compare(bytes) { accepted += 1 } else { refused += 1 }
        }
        #expect(accepted > 100 && refused > 100)
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededBytes) {
        let index = random.next(below: bytes.count)
        switch random.next(below: 4) {
        case 0: bytes[index] ^= 1 << UInt8(random.next(below: 8))
        case 1: bytes[index] = UInt8(truncatingIfNeeded: random.next())
        case 2: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
        default: if bytes.count > 1 { bytes.remove(at: index) }
        }
    }

    /// - Returns: whether the strict reader took `bytes`.
    private func compare(_ bytes: [UInt8]) -> Bool {
        guard !LaxLoader.mayAllocateHugely(bytes) else { return fault(bytes) == nil }
        let lax = LaxLoader.byteCount(bytes)
        do {
            let item = try read(bytes)
            #expect(lax == bytes.count, "\(bytes): taken here, refused or cut by libcbor")
            if !isUndefinedInside(item) {
                var writer = CBORWriter()
                write(item, of: bytes, to: &writer)
                #expect(writer.bytes == bytes, "\(bytes): another spelling of the same item")
            }
            return true
        } catch {
            // libcbor loads all of these; a truncation or a reserved head it must refuse as well.
            switch error.code {
            case .truncated: #expect(lax == nil, "\(bytes): \(error)")
            case .trailingBytes: #expect(lax == error.offset, "\(bytes): \(error)")
            default: break
            }
            return false
        }
    }

    private func isUndefinedInside(_ item: CBORItem) -> Bool {
        switch item {
        case .simple(let value): value == 23
        case .array(let elements): elements.contains { isUndefinedInside($0) }
        case .map(let entries): entries.contains { isUndefinedInside($0.key) || isUndefinedInside($0.value) }
        default: false
        }
    }
}
