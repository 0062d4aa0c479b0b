/// A parsed text: its bytes and a flat list of nodes in document order.
///
/// An object's node is followed by name, value, name, value, …; an array's by its elements; `next` jumps over a node
/// with all that is below it.
final class JSONTape: Sendable {
    struct Node: Sendable {
        /// A string's text between the quotes, a number's or a literal's text, a container from bracket to bracket.
        var start: UInt32
        var end: UInt32
        /// The index of the node after this one's last descendant (while a container is open: its parent's index).
        var next: UInt32
        var kind: JSONNode.Kind
        /// A string with escapes.
        var isEscaped = false
    }

    let bytes: [UInt8]
    let nodes: [Node]

    init(bytes: [UInt8], nodes: [Node]) { (self.bytes, self.nodes) = (bytes, nodes) }

    /// The range of a node's text in ``bytes``.
    func range(_ index: Int) -> Range<Int> {
        let node = nodes[index]
        return Int(node.start)..<Int(node.end)
    }

    /// A node's text as it stands in ``bytes``.
    @inline(__always)
    func withText<Result>(_ index: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        let bytes = bytes
        return body(bytes.span.extracting(range(index)))
    }

    /// A string's bytes with its escapes resolved.
    func content(_ index: Int) -> [UInt8] {
        guard nodes[index].isEscaped else { return Array(bytes[range(index)]) }
        let bytes = bytes
        return ByteScan.unescape(bytes.span, range(index))
    }

    /// Whether a string, its escapes resolved, is `name`.
    @inline(__always)
    func content(_ index: Int, equals name: StaticString) -> Bool {
        let node = nodes[index]
        // Most names differ in length, which is free to compare.
        guard node.isEscaped || Int(node.end &- node.start) == name.utf8CodeUnitCount else { return false }
        return text(index, equals: name)
    }

    private func text(_ index: Int, equals name: StaticString) -> Bool {
        name.withUTF8Buffer { buffer in
            // A static string's buffer is never freed.
            let name = unsafe Span(_unsafeElements: buffer)
            let isEscaped = nodes[index].isEscaped
            return withText(index) {
                isEscaped ? JSONEscape.resolves($0, to: name) : ByteScan.areEqual($0, name)
            }
        }
    }

    /// Whether two strings are the same, their escapes resolved.
    @inline(__always)
    func contentsEqual(_ left: Int, _ right: Int) -> Bool {
        let (one, other) = (nodes[left], nodes[right])
        if one.isEscaped || other.isEscaped { return content(left) == content(right) }
        guard one.end &- one.start == other.end &- other.start else { return false }
        return withText(left) { left in withText(right) { ByteScan.areEqual(left, $0) } }
    }
}
