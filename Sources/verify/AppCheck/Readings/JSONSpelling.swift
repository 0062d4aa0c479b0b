internal import JSON

/// A JSON text written again by another encoder: the same values in other bytes.
struct JSONSpelling {
    /// Members ordered by their names' bytes.
    var isSorted = false
    /// A space after each comma and colon.
    var isSpaced = false
    /// Each slash with a backslash before it, as Foundation writes it.
    var escapesSlashes = false
    /// Characters beyond ASCII as `\u` escapes.
    var escapesUnicode = false
    /// The blanks of a level, on a line for each value; nil = all on one line.
    var indent: Int?
    /// A space before each colon too, as Foundation writes it.
    var spacesColons = false

    private static let maxDepth = 32

    /// - Returns: nil unless `text` is JSON with an object or an array outside.
    static func read(_ text: [UInt8]) -> JSONNode? {
        guard let root = try? JSONDocument(parsing: text, maxDepth: maxDepth).root else { return nil }
        return root.kind == .object || root.kind == .array ? root : nil
    }

    /// An object of one member, a text.
    static func object(_ name: StaticString, _ text: [UInt8]) -> [UInt8] {
        var json = JSONWriter(capacity: text.count + 64)
        json.beginObject()
        json.member(name, validUTF8: text)
        json.endObject()
        return json.takeBytes()
    }

    func text(_ root: JSONNode) -> [UInt8] {
        var bytes: [UInt8] = []
        write(root, 0, into: &bytes)
        if escapesUnicode { bytes = Self.escaped(bytes) }
        // Outside of strings JSON has no slash.
        return escapesSlashes ? bytes.flatMap { $0 == UInt8(ascii: "/") ? Array(#"\/"#.utf8) : [$0] } : bytes
    }

    /// The parser limits how deep this goes.
    private func write(_ node: JSONNode, _ depth: Int, into bytes: inout [UInt8]) {
        switch node.kind {
        case .null, .bool, .number: bytes += node.writtenText
        case .string: Self.write(string: node.stringBytes ?? [], into: &bytes)
        case .array:
            list(node.elements, "[]", depth, into: &bytes) { write($0, depth + 1, into: &$1) }
        case .object:
            let members = node.members
            let ordered = isSorted ? members.sorted { $0.name.lexicographicallyPrecedes($1.name) } : members
            list(ordered, "{}", depth, into: &bytes) { member, bytes in
                Self.write(string: member.name, into: &bytes)
                bytes += (spacesColons ? " : " : isSpaced || indent != nil ? ": " : ":").utf8
                write(member.value, depth + 1, into: &bytes)
            }
        }
    }

    private func list<Item>(
        _ items: [Item],
        _ brackets: String,
        _ depth: Int,
        into bytes: inout [UInt8],
        _ write: (Item, inout [UInt8]) -> Void
    ) {
        let separator = isSpaced ? Array(", ".utf8) : Array(",".utf8)
        bytes += brackets.utf8.prefix(1)
        for (index, item) in items.enumerated() {
            if index > 0 { bytes += separator }
            breakLine(depth + 1, &bytes)
            write(item, &bytes)
        }
        if !items.isEmpty { breakLine(depth, &bytes) }
        bytes += brackets.utf8.suffix(1)
    }

    private func breakLine(_ depth: Int, _ bytes: inout [UInt8]) {
        if let indent { bytes += [0x0A] + [UInt8](repeating: 0x20, count: indent * depth) }
    }

    private static func escaped(_ text: [UInt8]) -> [UInt8] {
        var (result, source, decoder) = ([UInt8](), text.makeIterator(), UTF8())
        while case .scalarValue(let scalar) = decoder.decode(&source) {
            guard !scalar.isASCII, let units = UTF16.encode(scalar) else {
                result.append(UInt8(truncatingIfNeeded: scalar.value))
                continue
            }
            for unit in units { result += Array("\\u".utf8) + TextForms.hex(BigEndian.bytes(UInt64(unit), 2))[0] }
        }
        return result
    }

    private static func write(string: [UInt8], into bytes: inout [UInt8]) {
        var json = JSONWriter(capacity: string.count + 16)
        json.string(validUTF8: string)
        bytes += json.takeBytes()
    }
}
