internal import CRdkafka

/// The library's own table of its settings, read once: what it holds depends on the library's version.
enum PropertyTable {
    struct Row: Sendable {
        /// `C` or `P`: for consumers or producers only.
        let scope: String
        /// Such as `1 .. 3600000`; empty = any.
        let range: String
        /// Such as `integer`, `float`, `string`.
        let type: String
    }

    /// The rows by name. A topic's settings are among them; a name that stands twice is a topic's and a client's.
    static let rows: [String: Row] = {
        var rows: [String: Row] = [:]
        for line in table().split(separator: "\n") {
            // `name | C/P | range | default | importance | description <br>*Type: integer*`
            let cells = line.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false).map { trimmed($0) }
            guard cells.count == 4, let type = line.components(afterLast: "*Type: ") else { continue }
            let row = Row(scope: cells[1], range: cells[2], type: String(type.prefix { $0 != "*" }))
            if rows[cells[0]] == nil { rows[cells[0]] = row }
        }
        return rows
    }()

    /// A topic's settings may have a longer name; some of a client have one that begins alike.
    static func row(of name: String) -> Row? {
        rows[name] ?? (name.hasPrefix("topic.") ? rows[String(name.dropFirst("topic.".count))] : nil)
    }

    /// Whether a setting is for a kind of client. One kafka.properties serves both; a client that gets the other's settings
    /// logs a warning for each.
    static func applies(_ name: String, to kind: ClientKind) -> Bool {
        rows[name]?.scope != (kind == .consumer ? "P" : "C")
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    private static func table() -> String {
        var start: UnsafeMutablePointer<CChar>?
        var size = 0
        // The stream owns the buffer while it is open; after fclose it is ours to free.
        guard let stream = unsafe open_memstream(&start, &size) else { return "" }
        unsafe rd_kafka_conf_properties_show(stream)
        unsafe fclose(stream)
        guard let start = unsafe start else { return "" }
        defer { unsafe free(start) }
        return unsafe String(cString: start)
    }
}

extension Substring {
    fileprivate func components(afterLast mark: String) -> Substring? {
        ranges(of: mark).last.map { self[$0.upperBound...] }
    }
}
