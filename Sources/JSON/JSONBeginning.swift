/// The part of a text before the place where reading it ended.
package struct JSONBeginning: Sendable {
    private let tape: JSONTape

    init(tape: JSONTape) { self.tape = tape }

    /// The first string of that name among the root's members that were read completely.
    package func string(_ name: StaticString) -> [UInt8]? {
        guard tape.nodes.first?.kind == .object else { return nil }
        var child = 1
        while child + 1 < tape.nodes.count {
            let value = tape.nodes[child + 1]
            if value.kind == .string, tape.content(child, equals: name) { return tape.content(child + 1) }
            // An open container's `next` is its parent, which lies before it.
            guard Int(value.next) > child + 1 else { return nil }
            child = Int(value.next)
        }
        return nil
    }
}
