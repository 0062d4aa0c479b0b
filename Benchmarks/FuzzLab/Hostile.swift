internal import DeviceLab

/// Texts that are expensive for some reader.
enum Hostile {
    /// Up to `most` bytes: combining marks in the wrong order, long characters, one letter, or noise.
    static func text(_ most: Int, _ random: inout SeededRandom) -> [UInt8] {
        let length = random.below(2) == 0 ? most : random.below(most + 1)
        let pattern: [UInt8]
        switch random.below(6) {
        case 0, 1: pattern = Array("\u{301}\u{323}".utf8)
        case 2: pattern = Array("\u{1F468}\u{200D}".utf8)
        case 3: pattern = Array("\u{AC00}\u{11A8}".utf8)
        case 4: pattern = [0x61]
        default: return random.bytes(length)
        }
        let count = max(0, length - 1) / pattern.count
        return [0x61] + (0..<count).flatMap { _ in pattern }
    }

    /// What stands between the quotes of a JSON string of about `length` bytes.
    static func json(_ length: Int, _ random: inout SeededRandom) -> [UInt8] {
        let patterns = [
            "a", "\\n", "\\u0061", "\\u0301\\u0323", "\\ud83d\\ude00", "\u{301}\u{323}", "\u{e9}", "\u{1F600}", "\\/",
            "AAAA", "\u{20AC}", "\\\"", "%41", "/", ":", ".",
            "\\na", "\\/A", "\\u0041A", "\\u0041\\/A",
        ]
        // No two neighbours are alike for long: nothing can be foreseen.
        if random.below(10) == 0 {
            let texts = random.below(2) == 0 ? ["A", "\\/", "\\u0041"] : ["A", "\\n", "\\\\", "\\u20ac"]
            let parts = texts.map { Array($0.utf8) }
            return (0..<max(1, length / 3)).flatMap { _ in parts[random.below(parts.count)] }
        }
        let pattern = Array(patterns[random.below(patterns.count)].utf8)
        return (0..<max(1, length / pattern.count)).flatMap { _ in pattern }
    }
}
