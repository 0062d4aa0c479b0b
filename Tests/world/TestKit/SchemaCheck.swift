package import JSON
package import Settings

/// Judges JSON by a JSON Schema, as far as our schemas use the language. ``SchemaTests`` compare it with a library.
package struct SchemaCheck {
    /// Whether objects without `additionalProperties` allow none: nothing that a test writes is unknown.
    package var isClosed = false

    package init(isClosed: Bool = false) { self.isClosed = isClosed }

    /// - Returns: the place and keyword of the first violation; nil where there is none.
    package func violation(of node: JSONNode, by schema: JSONTree, at place: String = "") -> String? {
        guard case .object(let keywords) = schema else { return nil }
        for keyword in keywords {
            if let found = violation(of: node, by: keyword, of: schema, at: place) { return found }
        }
        return nil
    }

    private func violation(
        of node: JSONNode,
        by keyword: JSONTree.Member,
        of schema: JSONTree,
        at place: String
    ) -> String? {
        let value = keyword.value
        let holds: Bool
        switch keyword.name {
        case "type": holds = isOf(value.text, node)
        case "enum": holds = value.elements.contains { $0.text == node.string && node.kind == .string }
        // What a test writes is of this version.
        case "examples": holds = !isClosed || value.elements.contains { $0.text == node.string }
        case "const": holds = node.bool.map(String.init) == value.line
        case "pattern": holds = node.string.map { Self.matches($0, value.text ?? "") } ?? true
        case "minLength": holds = node.string.map { $0.unicodeScalars.count >= number(value) } ?? true
        case "maxLength": holds = node.string.map { $0.unicodeScalars.count <= number(value) } ?? true
        case "minimum": holds = node.numberText.flatMap(Double.init).map { $0 >= limit(value) } ?? true
        case "maximum": holds = node.numberText.flatMap(Double.init).map { $0 <= limit(value) } ?? true
        case "minItems": holds = node.kind != .array || node.elements.count >= number(value)
        case "anyOf": holds = value.elements.contains { violation(of: node, by: $0) == nil }
        case "not": holds = violation(of: node, by: value) != nil
        case "if":
            // A condition names only some members.
            let branch = SchemaCheck().violation(of: node, by: value) == nil ? schema["then"] : schema["else"]
            return branch.flatMap { violation(of: node, by: $0, at: place) }
        case "items":
            return node.elements.enumerated().lazy
                .compactMap { violation(of: $1, by: value, at: "\(place)[\($0)]") }.first
        case "required":
            let names = node.members.map { String(decoding: $0.name, as: UTF8.self) }
            holds = node.kind != .object || value.elements.allSatisfy { names.contains($0.text ?? "") }
        case "properties", "additionalProperties": return memberViolation(of: node, by: schema, at: place)
        case "propertyNames":
            let names = node.members.map { JSONTree.string(String(decoding: $0.name, as: UTF8.self)).line }
            holds = names.allSatisfy { name in
                (try? JSONDocument(parsing: Array(name.utf8)))
                    .map { violation(of: $0.root, by: value) == nil } ?? false
            }
        default: return nil
        }
        return holds ? nil : "\(place): \(keyword.name)"
    }

    private func memberViolation(of node: JSONNode, by schema: JSONTree, at place: String) -> String? {
        for member in node.members {
            let name = String(decoding: member.name, as: UTF8.self)
            let inner = "\(place).\(name)"
            if let property = schema["properties"]?[name] {
                if let found = violation(of: member.value, by: property, at: inner) { return found }
            } else if isClosed || schema["additionalProperties"] == .word("false") {
                return "\(inner): unknown"
            } else if let others = schema["additionalProperties"] {
                if let found = violation(of: member.value, by: others, at: inner) { return found }
            }
        }
        return nil
    }

    private func isOf(_ type: String?, _ node: JSONNode) -> Bool {
        switch type {
        case "object": node.kind == .object
        case "array": node.kind == .array
        case "string": node.kind == .string
        case "boolean": node.kind == .bool
        case "null": node.kind == .null
        case "number": node.kind == .number
        case "integer": node.integer != nil
        default: false
        }
    }

    private func limit(_ value: JSONTree) -> Double { Double(value.line) ?? 0 }

    private func number(_ value: JSONTree) -> Int { Int(value.line) ?? 0 }

    private static func matches(_ text: String, _ pattern: String) -> Bool {
        (try? Regex(pattern)).map { text.firstMatch(of: $0) != nil } ?? false
    }
}
