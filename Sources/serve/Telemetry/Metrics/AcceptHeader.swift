/// The media types that a client takes, with their weights (RFC 9110, section 12.5.1).
struct AcceptHeader {
    private struct Range {
        let type: Substring
        let parameters: [(name: Substring, value: Substring)]
        let weight: Double
    }

    private static let mostBytes = 4096
    private let ranges: [Range]

    /// - Parameter text: nil, or one that is too long, asks for nothing.
    init(_ text: String?) {
        let text = text.flatMap { $0.utf8.count <= Self.mostBytes ? $0.lowercased() : nil } ?? ""
        ranges = text.split(separator: ",").compactMap { Self.range($0) }
    }

    /// The format that the client prefers; text where it asks for neither.
    var format: Exposition.Format {
        let openMetrics = weight("application/openmetrics-text", "application/*", versions: ["1.0.0"], takesAny: false)
        let text = weight("text/plain", "text/*", versions: ["0.0.4"], takesAny: true)
        return openMetrics > 0 && openMetrics >= text ? .openMetrics : .text
    }

    /// The most specific range decides; of several versions the best one that is written here.
    ///
    /// - Parameter takesAny: whether `*/*` and the type's family mean this one too.
    private func weight(_ type: Substring, _ family: Substring, versions: [Substring], takesAny: Bool) -> Double {
        let named = ranges.filter { range in
            range.type == type
                && range.parameters.allSatisfy { $0.name != "version" || versions.contains($0.value) }
        }
        if !named.isEmpty { return named.map(\.weight).max() ?? 0 }
        guard takesAny else { return 0 }
        return ranges.first { $0.type == family }?.weight ?? ranges.first { $0.type == "*/*" }?.weight ?? 0
    }

    private static func range(_ text: Substring) -> Range? {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map(trimmed)
        guard let type = parts.first, !type.isEmpty else { return nil }
        let parameters = parts.dropFirst().compactMap { part -> (name: Substring, value: Substring)? in
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { return nil }
            let value = trimmed(pair[1])
            return (trimmed(pair[0]), value.hasPrefix("\"") ? value.dropFirst().dropLast() : value)
        }
        let weight = parameters.first { $0.name == "q" }.map { Double(String($0.value)) ?? 0 } ?? 1
        return Range(type: type, parameters: parameters, weight: min(1, max(0, weight)))
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        let head = text.drop(while: isSpace)
        return head.lastIndex { !isSpace($0) }.map { head[...$0] } ?? ""
    }
}
