/// English as engineers write it: a doc comment names its thing or says what it does, and a negation is "not".
extension Rules {
    /// Folders that are not read: the bytes of a fault are a sentence that is wrong on purpose.
    static let unreadFolders = ["Sources/lab/DeviceLab/Faults/"]

    /// Words that begin a fragment instead of a name: "Of the token" is "The token's times".
    private static let fragmentWords: Set<Substring> = [
        "Above", "After", "Against", "Among", "Around", "As", "At", "Before", "Behind", "Below", "Beside", "Besides",
        "Between", "Beyond", "Both", "By", "For", "From", "In", "Like", "Of", "On", "Over", "Per", "Since", "Those",
        "To", "Under", "Until", "With", "Within", "Without",
    ]

    /// A doc comment's first sentence has a subject and a verb, or is a noun phrase.
    static func fragments(_ file: SourceFile) -> [Breach] {
        guard isRead(file) else { return [] }
        return file.lines.indices.compactMap { index in
            guard let text = docText(file.lines[index]), index == 0 || docText(file.lines[index - 1]) == nil,
                let word = text.split(whereSeparator: { !$0.isLetter }).first, fragmentWords.contains(word),
                text.hasPrefix(word)
            else { return nil }
            return Breach(path: file.path, line: index + 1, text: "a doc comment begins with \"\(word)\"")
        }
    }

    /// "A text that is no number" is "a text that is not a number"; "there is no number" is English.
    static func negations(_ file: SourceFile) -> [Breach] {
        guard isRead(file) else { return [] }
        return file.lines.indices.compactMap { index in
            guard file.lines[index].contains(" no") else { return nil }
            let words = file.lines[index].split { $0 == " " || $0 == "\"" }
            let isNegated = words.indices.dropFirst().contains { place in
                let word = words[place].prefix { $0.isLetter }
                guard word == "no" || word == "none", beingWords.contains(words[place - 1]) else { return false }
                let before = place > 1 ? words[place - 2].lowercased() : ""
                let after = place + 1 < words.count ? words[place + 1] : ""
                return before != "there" && !comparisons.contains(after)
            }
            return isNegated ? Breach(path: file.path, line: index + 1, text: "\"is no\", not \"is not a\"") : nil
        }
    }

    private static let beingWords: Set<Substring> = ["is", "are", "was", "were", "be"]
    private static let comparisons: Set<Substring> = ["longer", "more", "less"]

    /// Phrases that read badly in a comment, and how many lines have them: the numbers only fall. "What lies behind it" is
    /// what follows it, ", since" is because, and a doc comment begins with its thing, not with "What".
    static let shrinkingPhrases = ["/// What ": 61, ", since ": 42, " behind ": 45]

    static func lines(with phrase: String, in file: SourceFile) -> Int {
        guard isRead(file), file.isSwift else { return 0 }
        return file.lines.count { line in
            guard let comment = line.firstRange(of: "//") else { return false }
            return line[comment.lowerBound...].contains(phrase)
        }
    }

    private static func isRead(_ file: SourceFile) -> Bool {
        file.isUnder(["Sources/"]) && !file.isUnder(unreadFolders)
    }

    /// The text of a line of a doc comment; nil for any other line.
    private static func docText(_ line: String) -> Substring? {
        let text = line.drop { $0 == " " }
        return text.hasPrefix("///") ? text.dropFirst(3).drop { $0 == " " } : nil
    }
}
