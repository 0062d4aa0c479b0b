/// Habits of other formats: in kafka.properties a value is all that follows the sign, quotes and `#` included.
enum PropertySpelling {
    /// What to write instead; nil where the value means itself. A value that is filled in is never judged.
    ///
    /// - Parameter isSecret: a password may have a blank and a `#` in it.
    static func advice(on value: String, isSecret: Bool) -> String? {
        let comment = comment(in: value)
        if isQuoted(value[...]) || isQuoted(comment.map { value[..<$0] } ?? "") {
            return "the quotes would be part of the value; remove them (or take a value that has them from "
                + "${file:PATH})"
        }
        guard comment != nil, !isSecret else { return nil }
        return "what follows # would be part of the value; give the comment a line of its own (or take a value that "
            + "has it from ${file:PATH})"
    }

    /// Where a comment seems to begin, with the blanks before it.
    private static func comment(in value: String) -> String.Index? {
        if value.hasPrefix("#") { return value.startIndex }
        return value.indices.first { index in
            guard value[index] == " " || value[index] == "\t" else { return false }
            return value[index...].first { $0 != " " && $0 != "\t" } == "#"
        }
    }

    private static func isQuoted(_ value: Substring) -> Bool {
        guard value.count > 1, let first = value.first, first == "\"" || first == "'" else { return false }
        return value.last == first
    }
}
