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

    /// The targets of `let NAME: [Target] = [ … ]`; nil if there is no such list.
    func list(_ name: String) -> [Target]? {
        guard let start = code.firstRange(of: "let \(name): [Target] =") else { return nil }
        let rest = code[start.upperBound...]
        return rest.firstRange(of: "\n]").map { Manifest(text: String(rest[..<$0.lowerBound])).targets }
    }

    /// Calls that begin a target's line; those of the package's own functions hold name and settings without labels.
    private static let kinds = [
        ".systemLibrary(", ".target(", ".executableTarget(", "module(\"", "testModule(\"", "executable(\"",
        "fuzzTarget(\"",
    ]

    /// Each target's text, from its opening word to the next one or the list's end.
    private static func pieces(of code: String) -> [(kind: String, text: String)] {
        var found: [(kind: String, text: String)] = []
        var isOpen = false
        for line in code.split(separator: "\n") {
            let words = line.drop { $0 == " " }
            if let kind = kinds.first(where: { words.hasPrefix($0) }) {
                found.append((kind.filter(\.isLetter), ""))
                isOpen = true
            } else if line.hasPrefix("]") || line.hasPrefix("}") {
                isOpen = false
            }
            if isOpen { found[found.count - 1].text += words + "\n" }
        }
        // The functions themselves have a name that is none.
        return found.filter { !$0.text.hasPrefix(".\($0.kind)(name: name,") }
    }

    private static func target(_ piece: (kind: String, text: String)) -> Target {
        let name = literals(after: piece.text.hasPrefix(".") ? "name:" : "(", until: ",", in: piece.text).first ?? ""
        var dependencies = literals(after: "dependencies: [", until: "]", in: piece.text)
        for part in piece.text.split(separator: ".needs(").dropFirst() {
            dependencies += literals(after: "", until: ")", in: String(part)).flatMap {
                $0.split(separator: " ").map(String.init)
            }
        }
        return Target(kind: piece.kind, name: name, dependencies: dependencies, text: piece.text)
    }

    /// The string literals between two marks.
    private static func literals(after start: String, until end: Character, in text: String) -> [String] {
        guard let begin = start.isEmpty ? text.startIndex : text.firstRange(of: start)?.upperBound else { return [] }
        let part = text[begin...].prefix { $0 != end }
        return part.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
}
