internal import JSON

/// JSON that can be edited and written back, for people: members keep their order, numbers their spelling.
package indirect enum JSONTree: Equatable, Sendable {
    case object([Member])
    case array([JSONTree])
    case string(String)
    /// A number, true, false or null, as written.
    case word(String)

    package struct Member: Equatable, Sendable {
        package let name: String
        package var value: JSONTree

        package init(name: String, value: JSONTree) { (self.name, self.value) = (name, value) }
    }

    /// A value that fits into this many columns is written on one line.
    private static let width = 100
    private static let indent = 2

    init(_ node: JSONNode) {
        switch node.kind {
        case .object:
            self = .object(
                node.members.map { Member(name: String(decoding: $0.name, as: UTF8.self), value: JSONTree($0.value)) }
            )
        case .array: self = .array(node.elements.map { JSONTree($0) })
        case .string: self = .string(node.string ?? "")
        case .number: self = .word(node.numberText ?? "0")
        case .bool: self = .word(node.bool == true ? "true" : "false")
        case .null: self = .word("null")
        }
    }

    /// An object of strings.
    package init(_ members: KeyValuePairs<String, String>) {
        self = .object(members.map { Member(name: $0.key, value: .string($0.value)) })
    }

    /// An object's member; nil where it is absent, and for every other kind.
    package subscript(name: String) -> JSONTree? {
        get {
            guard case .object(let members) = self else { return nil }
            return members.first { $0.name == name }?.value
        }
        set {
            guard case .object(var members) = self, let newValue else { return }
            if let index = members.firstIndex(where: { $0.name == name }) {
                members[index].value = newValue
            } else {
                members.append(Member(name: name, value: newValue))
            }
            self = .object(members)
        }
    }

    package var elements: [JSONTree] { if case .array(let elements) = self { elements } else { [] } }

    package var text: String? { if case .string(let text) = self { text } else { nil } }

    package var line: String {
        switch self {
        case .object(let members):
            "{" + members.map { "\(Self.quoted($0.name)): \($0.value.line)" }.joined(separator: ", ") + "}"
        case .array(let elements): "[" + elements.map(\.line).joined(separator: ", ") + "]"
        case .string(let text): Self.quoted(text)
        case .word(let word): word
        }
    }

    /// A file's text: each outermost member on its own line.
    package var file: String { lines(depth: 0) + "\n" }

    private func lines(depth: Int) -> String {
        let flat = line
        guard depth == 0 || flat.count + depth * Self.indent > Self.width else { return flat }
        let (open, close, parts): (String, String, [String])
        switch self {
        case .object(let members):
            (open, close) = ("{", "}")
            parts = members.map { "\(Self.quoted($0.name)): \($0.value.lines(depth: depth + 1))" }
        case .array(let elements):
            (open, close) = ("[", "]")
            parts = elements.map { $0.lines(depth: depth + 1) }
        case .string, .word: return flat
        }
        guard !parts.isEmpty else { return flat }
        let margin = String(repeating: " ", count: depth * Self.indent)
        let inner = margin + String(repeating: " ", count: Self.indent)
        return "\(open)\n" + parts.map { inner + $0 }.joined(separator: ",\n") + "\n\(margin)\(close)"
    }

    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter(capacity: 64)
        writer.string(text)
        return String(decoding: writer.takeBytes(), as: UTF8.self)
    }
}
