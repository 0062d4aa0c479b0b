internal import DeviceLab

/// CBOR with definite lengths as a tree that can be damaged anywhere and written again.
indirect enum CBORTree {
    /// Head (its low bits too) and string bytes.
    case item(major: UInt8, value: UInt64, content: [UInt8])
    case array([CBORTree])
    case map([(CBORTree, CBORTree)])

    /// - Returns: nil for bytes that are not exactly one item.
    init?(_ bytes: [UInt8]) {
        var position = 0
        guard let tree = Self.read(bytes, &position, depth: 0), position == bytes.count else { return nil }
        self = tree
    }

    private static func read(_ bytes: [UInt8], _ position: inout Int, depth: Int) -> CBORTree? {
        guard position < bytes.count, depth < 12 else { return nil }
        let (major, short) = (bytes[position] >> 5, bytes[position] & 0x1F)
        position += 1
        var value = UInt64(short)
        if short >= 24 {
            guard short <= 27, position + 1 << (short - 24) <= bytes.count else { return nil }
            let count = 1 << Int(short - 24)
            value = bytes[position..<(position + count)].reduce(0) { $0 << 8 | UInt64($1) }
            position += count
        }
        let rest = UInt64(bytes.count - position)
        switch major {
        case 2, 3:
            guard value <= rest else { return nil }
            defer { position += Int(value) }
            return .item(major: major, value: value, content: Array(bytes[position..<(position + Int(value))]))
        case 4:
            guard value <= rest else { return nil }
            var items: [CBORTree] = []
            for _ in 0..<value {
                guard let item = read(bytes, &position, depth: depth + 1) else { return nil }
                items.append(item)
            }
            return .array(items)
        case 5:
            guard value <= rest else { return nil }
            var pairs: [(CBORTree, CBORTree)] = []
            for _ in 0..<value {
                guard let key = read(bytes, &position, depth: depth + 1),
                    let item = read(bytes, &position, depth: depth + 1)
                else { return nil }
                pairs.append((key, item))
            }
            return .map(pairs)
        default: return .item(major: major, value: value, content: [])
        }
    }

    var bytes: [UInt8] {
        switch self {
        case .item(let major, let value, let content): Self.head(major, value) + content
        case .array(let items): Self.head(4, UInt64(items.count)) + items.flatMap(\.bytes)
        case .map(let pairs): Self.head(5, UInt64(pairs.count)) + pairs.flatMap { $0.0.bytes + $0.1.bytes }
        }
    }

    static func head(_ major: UInt8, _ value: UInt64) -> [UInt8] {
        let type = major << 5
        let count = value < 24 ? 0 : value < 0x100 ? 1 : value < 0x1_0000 ? 2 : value < 0x1_0000_0000 ? 4 : 8
        guard count > 0 else { return [type | UInt8(value)] }
        let short = UInt8(24 + count.trailingZeroBitCount)
        return [type | short] + (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }

    static func text(_ bytes: [UInt8]) -> CBORTree { .item(major: 3, value: UInt64(bytes.count), content: bytes) }
    static func string(_ bytes: [UInt8]) -> CBORTree { .item(major: 2, value: UInt64(bytes.count), content: bytes) }

    /// One random change at a random place; `most` bytes of new content.
    func damaged(_ random: inout SeededRandom, most: Int = 1_024) -> CBORTree {
        switch self {
        case .item(let major, let value, let content):
            switch random.below(5) {
            case 0: return Self.text(Hostile.text(most, &random))
            case 1: return Self.string(random.bytes(random.below(most + 1)))
            case 2: return .item(major: [0, 1, 6, 7][random.below(4)], value: value, content: [])
            case 3 where major == 2 || major == 3:
                let damaged = Mutation.damage(content, &random)
                return .item(major: major, value: UInt64(damaged.count), content: damaged)
            default: return .item(major: major, value: random.next() >> UInt64(random.below(64)), content: content)
            }
        case .array(var items):
            guard !items.isEmpty else { return .array([Self.text([])]) }
            let place = random.below(items.count)
            switch random.below(5) {
            case 0: items.remove(at: place)
            case 1: items.insert(items[place], at: place)
            case 2: items = Array(repeating: items[place], count: 1 + random.below(200))
            default: items[place] = items[place].damaged(&random, most: most)
            }
            return .array(items)
        case .map(var pairs):
            guard !pairs.isEmpty else { return .map([(Self.text([]), Self.text([]))]) }
            let place = random.below(pairs.count)
            switch random.below(7) {
            case 0: pairs.remove(at: place)
            case 1: pairs.append(pairs[place])
            case 2: pairs[place].0 = pairs[place].0.damaged(&random, most: most)
            case 3: pairs.swapAt(place, random.below(pairs.count))
            case 4: pairs += Self.manyPairs(&random, most)
            default: pairs[place].1 = pairs[place].1.damaged(&random, most: most)
            }
            return .map(pairs)
        }
    }

    /// Keys of one length that begin alike: what a comparison of all with all costs most.
    private static func manyPairs(_ random: inout SeededRandom, _ most: Int) -> [(CBORTree, CBORTree)] {
        let count = 1 + random.below(120)
        let length = max(4, min(random.below(300), most / count))
        return (0..<count).map { number in
            let tail = Array("\(1000 + number)".utf8)
            return (
                text([UInt8](repeating: 0x61, count: length - 4) + tail.prefix(4)),
                .item(major: 0, value: 0, content: [])
            )
        }
    }
}
