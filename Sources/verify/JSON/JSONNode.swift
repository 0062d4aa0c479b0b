/// One value of a document.
package struct JSONNode: Sendable {
    package enum Kind: UInt8, Sendable { case null, bool, number, string, array, object }

    private let tape: JSONTape
    private let index: Int

    init(tape: JSONTape, index: Int) { (self.tape, self.index) = (tape, index) }

    private var node: JSONTape.Node { tape.nodes[index] }

    package var kind: Kind { node.kind }

    /// The string's bytes with its escapes resolved; nil unless this is a string. A lone surrogate escape is refused
    /// by the parser already.
    package var stringBytes: [UInt8]? { kind == .string ? tape.content(index) : nil }

    /// The length of a string as written, escapes included: its content has at least a sixth of it.
    package var writtenBytes: Int { kind == .string ? Int(node.end &- node.start) : 0 }

    /// The bytes of a string of canonical base64; nil for anything else.
    package var base64Bytes: [UInt8]? {
        guard kind == .string else { return nil }
        let isEscaped = node.isEscaped
        return tape.withText(index) { isEscaped ? Base64.decode(escaped: $0) : Base64.decode($0) }
    }

    /// Whether this is a string and its bytes, its escapes resolved, are `bytes`.
    package func holds(_ bytes: Span<UInt8>) -> Bool {
        guard kind == .string else { return false }
        if node.isEscaped {
            // An escape has six bytes a byte at most, so that most texts differ before they are resolved.
            guard Int(node.end &- node.start) <= 6 * bytes.count else { return false }
            return ByteScan.areEqual(tape.content(index).span, bytes)
        }
        return tape.withText(index) { ByteScan.areEqual($0, bytes) }
    }

    /// nil unless a string of valid UTF-8.
    package var string: String? {
        guard let bytes = stringBytes else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    package var bool: Bool? { kind == .bool ? tape.bytes[Int(node.start)] == UInt8(ascii: "t") : nil }

    /// nil unless a number without fraction or exponent that fits.
    package var integer: Int64? {
        guard kind == .number else { return nil }
        let bytes = tape.bytes
        let text = bytes.span.extracting(tape.range(index))
        let isNegative = text[0] == UInt8(ascii: "-")
        var value: Int64 = 0
        for position in (isNegative ? 1 : 0)..<text.count {
            guard case UInt8(ascii: "0")...UInt8(ascii: "9") = text[position] else { return nil }
            let digit = Int64(text[position] - UInt8(ascii: "0"))
            let (tens, tensOverflow) = value.multipliedReportingOverflow(by: 10)
            // Negative numbers are counted downwards, so that the smallest one fits.
            let (sum, sumOverflow) =
                isNegative ? tens.subtractingReportingOverflow(digit) : tens.addingReportingOverflow(digit)
            guard !tensOverflow, !sumOverflow else { return nil }
            value = sum
        }
        return value
    }

    package var numberText: String? {
        guard kind == .number else { return nil }
        return String(decoding: tape.bytes[tape.range(index)], as: UTF8.self)
    }

    /// The text as it stands in the document; a string's without its quotes.
    package var writtenText: [UInt8] { Array(tape.bytes[tape.range(index)]) }

    /// An array's elements; empty for every other kind.
    package var elements: [JSONNode] {
        guard kind == .array else { return [] }
        var result: [JSONNode] = []
        // An element takes a node at least.
        result.reserveCapacity(min(8, Int(node.next) - index - 1))
        var child = index + 1
        while child < Int(node.next) {
            result.append(JSONNode(tape: tape, index: child))
            child = Int(tape.nodes[child].next)
        }
        return result
    }

    /// An object's members in order, duplicates included; empty for every other kind.
    package var members: [JSONMember] {
        var result: [JSONMember] = []
        forEachMember { name, value in
            result.append(JSONMember(name: tape.content(name), value: JSONNode(tape: tape, index: value)))
        }
        return result
    }

    /// Whether an object (this one, not its descendants) has two members of one name, however the names are spelled.
    package var hasDuplicateMembers: Bool {
        var (count, hasEscapes) = (0, false)
        forEachMember { name, _ in
            count += 1
            if tape.nodes[name].isEscaped { hasEscapes = true }
        }
        guard count > Self.quadraticLimit || hasEscapes else { return hasDuplicateAmongFew }
        var seen: Set<[UInt8]> = []
        var isDuplicate = false
        forEachMember { name, _ in isDuplicate = !seen.insert(tape.content(name)).inserted || isDuplicate }
        return isDuplicate
    }

    /// The first member of that name.
    package subscript(name: StaticString) -> JSONNode? {
        guard kind == .object else { return nil }
        var child = index + 1
        let end = Int(node.next)
        while child < end {
            if tape.content(child, equals: name) { return JSONNode(tape: tape, index: child + 1) }
            child = Int(tape.nodes[child + 1].next)
        }
        return nil
    }

    /// Up to here names without escapes are compared pair by pair, which needs no copies; others go through a set, so
    /// that each is copied once.
    private static let quadraticLimit = 24

    /// Calls `body` with the node indices of each member's name and value.
    private func forEachMember(_ body: (Int, Int) -> Void) {
        guard kind == .object else { return }
        var child = index + 1
        let end = Int(node.next)
        while child < end {
            body(child, child + 1)
            child = Int(tape.nodes[child + 1].next)
        }
    }

    private var hasDuplicateAmongFew: Bool {
        guard kind == .object else { return false }
        var name = index + 1
        while name < Int(node.next) {
            var other = index + 1
            while other < name {
                if tape.contentsEqual(name, other) { return true }
                other = Int(tape.nodes[other + 1].next)
            }
            name = Int(tape.nodes[name + 1].next)
        }
        return false
    }
}

package struct JSONMember: Sendable {
    /// The member's name, escapes resolved.
    package let name: [UInt8]
    package let value: JSONNode
}
