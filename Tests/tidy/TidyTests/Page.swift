/// A page of the documentation catalog.
struct Page: Sendable {
    static let folder = "Sources/program/attest-worker/Documentation.docc/"
    /// As the root page lists them.
    static let names = [
        "attest-worker", "Start", "Installing", "ExactlyOnce", "ThreatModel", "FraudRisk", "Deployment", "Keys",
        "KeysElsewhere", "KeysThatEnd", "Kafka", "TLS", "CloudKafka",
        "Logs", "Metrics", "Runbook", "Sizing", "Gateway", "AppleClients", "Backends", "Migrating", "Records",
        "Reasons", "Configuration", "CommandLine", "Changelog", "Architecture", "Decisions", "Promises", "Testing",
        "Contributing",
    ]

    let name: String
    let lines: [Substring]

    /// - Returns: nil if the page is missing.
    init?(_ name: String) {
        guard let text = SourceTree.text(Self.folder + name + ".md") else { return nil }
        self.init(name, text: text)
    }

    init(_ name: String, text: String) {
        self.name = name
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    var text: String { lines.joined(separator: "\n") }

    /// The term in backticks at the start of each table row, in order.
    var terms: [String] { Self.terms(lines) }

    /// The terms of each section of the second level, by its heading.
    var sections: [(heading: String, terms: [String])] {
        var found: [(heading: String, lines: [Substring])] = []
        for line in lines {
            if line.hasPrefix("## ") {
                found.append((String(line.dropFirst(3)), []))
            } else if !found.isEmpty {
                found[found.count - 1].lines.append(line)
            }
        }
        return found.map { ($0.heading, Self.terms($0.lines)) }
    }

    /// The lines outside of code blocks.
    var prose: [Substring] {
        var isCode = false
        return lines.filter { line in
            let isFence = line.drop { $0 == " " }.hasPrefix("```")
            if isFence { isCode.toggle() }
            return !isCode && !isFence
        }
    }

    /// The anchors of the headings, as Git hosts make them.
    var anchors: Set<String> {
        Set(
            prose.filter { $0.hasPrefix("#") }.map { line in
                let heading = line.drop { $0 == "#" }.dropFirst().lowercased()
                return heading.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.replacing(" ", with: "-")
            }
        )
    }

    /// What the links lead to, those to other hosts left out.
    var links: [String] {
        prose.flatMap { line in
            line.replacing(/`[^`]*`/, with: "").matches(of: /\]\(([^)]+)\)/).map { String($0.1) }
        }.filter { !$0.contains("://") }
    }

    private static func terms(_ lines: [Substring]) -> [String] {
        lines.compactMap { line in
            guard line.hasPrefix("| `") else { return nil }
            return String(line.dropFirst(3).prefix { $0 != "`" })
        }
    }
}
