internal import DeviceLab

/// DER as a tree that can be damaged anywhere and written again with right lengths.
indirect enum DERTree {
    case leaf(tag: [UInt8], content: [UInt8])
    case node(tag: [UInt8], children: [DERTree])

    /// - Returns: nil for bytes that are not exactly one element.
    init?(_ bytes: [UInt8]) {
        var position = 0
        guard let tree = Self.read(bytes, &position, end: bytes.count, depth: 0), position == bytes.count else {
            return nil
        }
        self = tree
    }

    private static func read(_ bytes: [UInt8], _ position: inout Int, end: Int, depth: Int) -> DERTree? {
        let start = position
        guard position < end, depth < 12 else { return nil }
        let first = bytes[position]
        position += 1
        if first & 0x1F == 0x1F {
            while position < end, bytes[position] & 0x80 != 0 { position += 1 }
            position += 1
        }
        guard position < end else { return nil }
        let tag = Array(bytes[start..<position])
        var length = Int(bytes[position])
        position += 1
        if length >= 0x80 {
            let count = length & 0x7F
            guard (1...2).contains(count), position + count <= end else { return nil }
            length = bytes[position..<(position + count)].reduce(0) { $0 << 8 | Int($1) }
            position += count
        }
        guard length <= end - position else { return nil }
        let content = position..<(position + length)
        position = content.upperBound
        guard first & 0x20 != 0 else { return .leaf(tag: tag, content: Array(bytes[content])) }
        var (inner, children): (Int, [DERTree]) = (content.lowerBound, [])
        while inner < content.upperBound {
            guard let child = read(bytes, &inner, end: content.upperBound, depth: depth + 1) else { return nil }
            children.append(child)
        }
        return .node(tag: tag, children: children)
    }

    var bytes: [UInt8] {
        switch self {
        case .leaf(let tag, let content): Self.element(tag, content)
        case .node(let tag, let children): Self.element(tag, children.flatMap(\.bytes))
        }
    }

    private static func element(_ tag: [UInt8], _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        if count < 0x80 { return tag + [UInt8(count)] + content }
        if count < 0x100 { return tag + [0x81, UInt8(count)] + content }
        return tag + [0x82, UInt8(truncatingIfNeeded: count >> 8), UInt8(truncatingIfNeeded: count)] + content
    }

    /// One random change at a random place; `most` bytes of new content.
    func damaged(_ random: inout SeededRandom, most: Int = 1_024) -> DERTree {
        switch self {
        case .leaf(let tag, let content):
            return Self.changedLeaf(tag, content, &random, most)
        case .node(let tag, var children):
            guard !children.isEmpty, random.below(4) > 0 else {
                return random.below(2) == 0
                    ? .node(tag: [[0x30], [0x31], [0xA0], [0x24]][random.below(4)], children: children)
                    : .node(tag: tag, children: children + [.leaf(tag: [0x04], content: Hostile.text(most, &random))])
            }
            let place = random.below(children.count)
            switch random.below(8) {
            case 0: children.remove(at: place)
            case 1: children.insert(children[place], at: random.below(children.count + 1))
            case 2: children.swapAt(place, random.below(children.count))
            case 3:
                let copy = children[place]
                let count = 1 + random.below(max(1, min(300, most / max(1, copy.bytes.count))))
                children.insert(contentsOf: Array(repeating: copy, count: count), at: place)
            default: children[place] = children[place].damaged(&random, most: most)
            }
            return .node(tag: tag, children: children)
        }
    }

    private static func changedLeaf(
        _ tag: [UInt8],
        _ content: [UInt8],
        _ random: inout SeededRandom,
        _ most: Int
    ) -> DERTree {
        // An OCTET STRING often holds DER itself.
        if tag == [0x04], random.below(2) == 0, let inner = DERTree(content) {
            return .leaf(tag: tag, content: inner.damaged(&random, most: most).bytes)
        }
        switch random.below(5) {
        case 0: return .leaf(tag: tag, content: Hostile.text(most, &random))
        case 1: return .leaf(tag: [[0x02], [0x04], [0x06], [0x0C], [0x03], [0x17]][random.below(6)], content: content)
        case 2: return .leaf(tag: tag, content: random.bytes(random.below(most + 1)))
        case 3: return .leaf(tag: tag, content: [])
        default: return .leaf(tag: tag, content: Mutation.damage(content, &random))
        }
    }
}
