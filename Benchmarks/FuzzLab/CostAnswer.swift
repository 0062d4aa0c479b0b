internal import JSON

/// What a result says in a word.
enum CostAnswer {
    static func read(_ result: [UInt8]) -> String {
        guard let root = try? JSONDocument(parsing: result).root else { return "unreadable" }
        return root["reason"]?.string ?? root["verdict"]?.string ?? "unreadable"
    }
}
