import Foundation
import JSON
import Testing

/// A tree that both readers' results are turned into.
private indirect enum Tree: Equatable {
    case null, bool(Bool), number(Double), string(String), array([Tree]), object([String: Tree])

    init(_ node: JSONNode) {
        switch node.kind {
        case .null: self = .null
        case .bool: self = .bool(node.bool ?? false)
        case .number: self = .number(Double(node.numberText ?? "") ?? .nan)
        case .string: self = .string(node.string ?? "no UTF-8")
        case .array: self = .array(node.elements.map(Tree.init))
        case .object:
            let members = node.members.map { (String(decoding: $0.name, as: UTF8.self), Tree($0.value)) }
            self = .object(Dictionary(members, uniquingKeysWith: { first, _ in first }))
        }
    }
}

extension Tree: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let array = try? container.decode([Tree].self) {
            self = .array(array)
        } else if let object = try? container.decode([String: Tree].self) {
            self = .object(object)
        } else {
            self = .number(try container.decode(Double.self))
        }
    }
}

private func ours(_ bytes: [UInt8]) -> JSONNode? {
    try? JSONDocument(parsing: bytes, maxDepth: 64, maxNodes: 100_000).root
}

private func anyDuplicates(_ node: JSONNode) -> Bool {
    node.hasDuplicateMembers || node.elements.contains(where: anyDuplicates)
        || node.members.contains { anyDuplicates($0.value) }
}

/// A random JSON text with awkward spacing, escapes and numbers.
private struct TextMaker {
    var random: SeededGenerator

    mutating func text(_ depth: Int = 0) -> String {
        let value: String
        switch Int.random(in: 0..<(depth > 4 ? 5 : 8), using: &random) {
        case 0: value = pick(["null", "true", "false"])
        case 1: value = pick(["0", "-0", "17", "-3.25", "1e3", "2E-2", "123456789012", "0.1", "9007199254740993"])
        case 2, 3, 4: value = string()
        case 5, 6:
            let members = (0..<Int.random(in: 0..<5, using: &random)).map { _ in
                space() + string() + space() + ":" + text(depth + 1)
            }
            value = "{" + members.joined(separator: ",") + space() + "}"
        default:
            let elements = (0..<Int.random(in: 0..<5, using: &random)).map { _ in text(depth + 1) }
            value = "[" + elements.joined(separator: ",") + space() + "]"
        }
        return space() + value + space()
    }

    private mutating func string() -> String {
        let parts = (0..<Int.random(in: 0..<6, using: &random)).map { _ in
            pick([
                "a", "plain text of some length", "\\n", "\\\"", "\\\\", "\\/", "\\u00e9", "\\ud83d\\ude00", "é", "😀",
                "\u{7F}",
            ])
        }
        return "\"" + parts.joined() + "\""
    }

    private mutating func space() -> String { pick(["", "", "", " ", "\n", "\t\r "]) }
    private mutating func pick(_ choices: [String]) -> String { choices.randomElement(using: &random) ?? "" }
}

/// SplitMix64: the same seed, the same texts.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}

@Suite struct JSONDifferentialTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `Foundation reads random texts the same way`(_ seed: UInt64) throws {
        var maker = TextMaker(random: SeededGenerator(state: seed))
        for _ in 0..<100 {
            let text = maker.text()
            let node = try #require(ours(Array(text.utf8)), "refused: \(text)")
            // The readers may differ in which of two members of one name they keep.
            if anyDuplicates(node) { continue }
            let theirs = try JSONDecoder().decode(Tree.self, from: Data(text.utf8))
            #expect(Tree(node) == theirs, "\(text)")
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `a mutated text that Foundation refuses is refused`(_ seed: UInt64) {
        var maker = TextMaker(random: SeededGenerator(state: seed &+ 1000))
        let salt = Array("{}[]\",:\\u0de19-+.tfn ".utf8) + [0, 0x1F, 0x7F, 0x80, 0xC0, 0xED, 0xA0, 0xF5, 0xFF]
        var (accepted, refused) = (0, 0)
        for _ in 0..<300 {
            var bytes = Array(maker.text().utf8)
            for _ in 0..<Int.random(in: 1...3, using: &maker.random) {
                let place = Int.random(in: 0...bytes.count, using: &maker.random)
                switch Int.random(in: 0..<3, using: &maker.random) {
                case 0: bytes.insert(salt.randomElement(using: &maker.random) ?? 0, at: place)
                case 1: if place < bytes.count { bytes.remove(at: place) }
                default: if place < bytes.count { bytes[place] = salt.randomElement(using: &maker.random) ?? 0 }
                }
            }
            let node = ours(bytes)
            let theirs = (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
            if node == nil { refused += 1 } else { accepted += 1 }
            #expect(node == nil || theirs, "accepted here only: \(bytes)")
            if node == nil, theirs { #expect(Self.isStricterHere(bytes), "refused here only: \(bytes)") }
        }
        #expect(accepted > 0 && refused > 0)
    }

    /// Why Foundation may take a text that is refused here: it reads other encodings and byte order marks, and lets
    /// through lone surrogates, bad UTF-8, and a comma before a closing bracket.
    private static func isStricterHere(_ bytes: [UInt8]) -> Bool {
        if bytes.contains(0) || bytes.starts(with: [0xEF, 0xBB, 0xBF]) || !UTF8Text.isValid(bytes) { return true }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.contains(/\\u[dD][89a-fA-F]/) || text.contains(/,\s*[\]}]/)
    }
}
