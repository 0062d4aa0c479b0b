/// Habits of other formats: in kafka.properties a value is all that follows the sign, quotes and `#` included.
enum PropertySpelling {
    /// Another format's syntax in a value.
    struct Habit {
        /// The warning, for a property whose value may be any text.
        let doubt: String
        /// The error, for any other property.
        let advice: String
    }

    private static let quotes = Habit(
        doubt: "the quotes are part of the value; remove them if they are not meant",
        advice: "the quotes would be part of the value; remove them (or take a value that has them from ${file:PATH})"
    )
    private static let comment = Habit(
        doubt: "what follows # is part of the value; give it a line of its own if it is a comment",
        advice: "what follows # would be part of the value; give the comment a line of its own (or take a value that "
            + "has it from ${file:PATH})"
    )

    /// nil where the value means itself. A value that is filled in is never judged.
    ///
    /// - Parameter isSecret: a generated password may have a blank and a `#` in it.
    static func habit(in value: String, isSecret: Bool) -> Habit? {
        let begin = beginOfComment(in: value)
        if isQuoted(value[...]) || isQuoted(begin.map { value[..<$0] } ?? "") { return quotes }
        return begin == nil || isSecret ? nil : comment
    }

    /// The place where a comment seems to begin, with the blanks before it.
    private static func beginOfComment(in value: String) -> String.Index? {
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
