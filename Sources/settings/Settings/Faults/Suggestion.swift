/// "Did you mean": the known name nearest to a mistyped one.
package enum Suggestion {
    /// `: did you mean --config?` or nothing.
    package static func phrase(for text: String, among known: [String]) -> String {
        nearest(to: text, among: known).map { ": did you mean \($0)?" } ?? ""
    }

    /// The same as the end of a sentence; a question needs no full stop.
    package static func ending(for text: String, among known: [String]) -> String {
        let phrase = phrase(for: text, among: known)
        return phrase.isEmpty ? "." : phrase
    }

    /// - Returns: the name at the smallest edit distance, if that is at most a third of its length (and at least 1).
    package static func nearest(to text: String, among known: [String]) -> String? {
        let typed = Array(text.utf8.prefix(64))
        let ranked = known.map { name in (name: name, distance: distance(typed, Array(name.utf8))) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, best.name.utf8.count / 3) ? best.name : nil
    }

    /// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var before: [Int] = []
        var previous = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let replaced = previous[column] + (left[row] == right[column] ? 0 : 1)
                var best = min(replaced, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, before[column - 1] + 1)
                }
                current.append(best)
            }
            (before, previous) = (previous, current)
        }
        return previous[right.count]
    }
}
