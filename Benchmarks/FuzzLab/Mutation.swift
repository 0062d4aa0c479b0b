internal import DeviceLab

/// Random damage to bytes, as by an attacker who cannot sign.
enum Mutation {
    /// One to three of: flip a bit, set a byte, delete, insert or copy a run, swap two runs, cut the end.
    static func damage(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<(1 + random.below(3)) { step(&bytes, &random) }
        return bytes
    }

    private static func step(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        guard !bytes.isEmpty else { return bytes.append(UInt8(truncatingIfNeeded: random.next())) }
        let place = random.below(bytes.count)
        let length = min(1 + random.below(16), bytes.count - place)
        switch random.below(8) {
        case 0, 1, 2: bytes[place] ^= 1 << UInt8(random.below(8))
        case 3: bytes[place] = [0x00, 0x01, 0x7F, 0x80, 0xBF, 0xFF, 0x30, 0x58][random.below(8)]
        case 4: bytes.removeSubrange(place..<(place + length))
        case 5: bytes.insert(contentsOf: random.bytes(length), at: place)
        case 6:
            let run = bytes[place..<(place + length)]
            bytes.insert(contentsOf: run, at: random.below(bytes.count + 1))
        default: bytes.removeLast(length)
        }
    }
}
