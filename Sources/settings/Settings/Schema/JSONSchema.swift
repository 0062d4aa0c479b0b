/// Builds a JSON Schema (draft 2020-12). Each function returns the schema of one value.
package enum JSONSchema {
    package struct Member: Sendable {
        package let name: String
        package let schema: JSONTree
        package let isRequired: Bool

        package init(_ name: String, _ schema: JSONTree, isRequired: Bool = true) {
            (self.name, self.schema, self.isRequired) = (name, schema, isRequired)
        }
    }

    package static let boolean = JSONTree(["type": "boolean"])
    package static let string = JSONTree(["type": "string"])
    /// Standard base64, padded.
    package static let base64 = string(pattern: "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$")
    /// RFC 3339 in UTC, with or without fractions of a second.
    package static let time = string(pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?Z$")

    /// - Parameter pattern: ECMA-262.
    package static func string(pattern: String) -> JSONTree { JSONTree(["type": "string", "pattern": pattern]) }

    package static func string(atLeast least: Int, atMost most: Int? = nil) -> JSONTree {
        var schema = string
        schema["minLength"] = .word("\(least)")
        if let most { schema["maxLength"] = .word("\(most)") }
        return schema
    }

    package static func integer(_ range: ClosedRange<Int64>) -> JSONTree { bounded("integer", range) }

    package static func number(_ range: ClosedRange<Int64>) -> JSONTree { bounded("number", range) }

    package static func choice(_ names: [String]) -> JSONTree {
        .object([JSONTree.Member(name: "enum", value: .array(names.map { .string($0) }))])
    }

    /// Words to which a later version may add: today's stand in `examples`.
    package static func openChoice(_ names: [String]) -> JSONTree {
        var schema = string(pattern: "^[A-Za-z0-9:_-]+$")
        schema["examples"] = .array(names.map { .string($0) })
        return schema
    }

    package static func list(of element: JSONTree, atLeast least: Int = 0) -> JSONTree {
        var schema = JSONTree(["type": "array"])
        schema["items"] = element
        if least > 0 { schema["minItems"] = .word("\(least)") }
        return schema
    }

    package static func any(_ schemas: [JSONTree]) -> JSONTree {
        .object([JSONTree.Member(name: "anyOf", value: .array(schemas))])
    }

    /// - Parameter isClosed: whether other members are faults.
    package static func object(_ members: [Member], isClosed: Bool = true) -> JSONTree {
        var schema = JSONTree(["type": "object"])
        schema["properties"] = .object(members.map { JSONTree.Member(name: $0.name, value: $0.schema) })
        let required = members.filter(\.isRequired).map { JSONTree.string($0.name) }
        if !required.isEmpty { schema["required"] = .array(required) }
        if isClosed { schema["additionalProperties"] = .word("false") }
        return schema
    }

    package static func document(_ title: String, _ schema: JSONTree) -> JSONTree {
        guard case .object(let members) = schema else { return schema }
        let head = JSONTree(["$schema": "https://json-schema.org/draft/2020-12/schema", "title": title])
        guard case .object(let first) = head else { return schema }
        return .object(first + members)
    }

    private static func bounded(_ type: String, _ range: ClosedRange<Int64>) -> JSONTree {
        var schema = JSONTree(["type": type])
        schema["minimum"] = .word("\(range.lowerBound)")
        if range.upperBound < Int64.max { schema["maximum"] = .word("\(range.upperBound)") }
        return schema
    }
}

extension JSONTree {
    package func described(_ text: String) -> JSONTree {
        guard !text.isEmpty else { return self }
        var schema = self
        schema["description"] = .string(text)
        return schema
    }
}
