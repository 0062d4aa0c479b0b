/// The targets of `Package.swift` and what each depends on, read from its text.
struct Manifest {
    struct Target: Equatable, Sendable {
        let kind: String
        let name: String
        let dependencies: [String]
        let text: String
    }

    let targets: [Target]
    /// The text without its comments.
    let code: String

    init(text: String) {
        code = text.split(separator: "\n").filter { line in !line.drop { $0 == " " }.hasPrefix("//") }
            .joined(separator: "\n")
        targets = Self.pieces(of: code).map(Self.target)
    }

    func dependencies(of name: String) -> [String]? { targets.first { $0.name == name }?.dependencies }

    /// The targets of `let NAME: [Target] = [ … ]`; nil if there is no such list.
    func list(_ name: String) -> [Target]? {
        guard let start = code.firstRange(of: "let \(name): [Target] = [\n") else { return nil }
        let rest = code[start.upperBound...]
        return rest.firstRange(of: "\n]").map { Manifest(text: String(rest[..<$0.lowerBound])).targets }
    }

    private static let kinds = [".systemLibrary(", ".target(", ".executableTarget(", ".testTarget("]

    /// Each target's text, from its opening word to its closing parenthesis.
    private static func pieces(of code: String) -> [(kind: String, text: String)] {
        var found: [(kind: String, text: String)] = []
        var rest = code[...]
        while let (kind, range) = firstKind(in: rest) {
            var depth = 1
            let body = rest[range.upperBound...].prefix { character in
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                return depth > 0
            }
            found.append((String(kind.dropFirst().dropLast()), String(body)))
            rest = rest[body.endIndex...]
        }
        return found
    }

    private static func firstKind(in code: Substring) -> (String, Range<Substring.Index>)? {
        kinds.compactMap { kind in code.firstRange(of: kind).map { (kind, $0) } }
            .min { $0.1.lowerBound < $1.1.lowerBound }
    }

    private static func target(_ piece: (kind: String, text: String)) -> Target {
        let name = literals(after: "name:", until: ",", in: piece.text).first ?? ""
        let dependencies = literals(after: "dependencies: [", until: "]", in: piece.text)
        return Target(kind: piece.kind, name: name, dependencies: dependencies, text: piece.text)
    }

    /// The string literals between two marks.
    private static func literals(after start: String, until end: Character, in text: String) -> [String] {
        guard let begin = text.firstRange(of: start) else { return [] }
        let part = text[begin.upperBound...].prefix { $0 != end }
        return part.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
}
