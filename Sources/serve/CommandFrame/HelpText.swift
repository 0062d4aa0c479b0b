/// The text of `--help`.
package enum HelpText {
    /// All commands, one line each.
    package static func overview(of commands: [Command]) -> String {
        let rows =
            commands.map { ($0.name, $0.summary) } + [
                ("help [COMMAND]", "this text, or the help of a command"), ("--version", "the program's version"),
            ]
        let table = wrapped(rows)
        return """
            Usage: \(AttestWorker.name) COMMAND [OPTIONS]

            Batch verification of Apple App Attest objects from Kafka topics and captures.

            \(table)

            '\(AttestWorker.name) COMMAND --help' explains a command.
            Exit codes: 0 done, 1 the work or its environment failed, 2 wrong usage or configuration.
            """
    }

    /// One command with its options.
    package static func of(_ command: Command) -> String {
        var parts = [AttestWorker.name, command.name]
        parts += command.options.map(usage)
        if let operands = command.operands { parts.append(operands.placeholder) }
        var rows = command.options.map { ($0.usage, $0.summary + note($0)) }
        if let operands = command.operands { rows.append((operands.placeholder, operands.summary)) }
        let table = wrapped(rows)
        let sentence: String = command.summary.prefix(1).uppercased() + command.summary.dropFirst() + "."
        let text = "Usage: " + wrapped(parts) + "\n\n" + sentence + "\n\n" + table
        return command.notes.isEmpty ? text : text + "\n\n" + reflowed(command.notes)
    }

    /// Notes broken at 100 columns: a paragraph ends with a short line.
    private static func reflowed(_ notes: String) -> String {
        var paragraphs: [String] = []
        var isOpen = false
        for line in notes.split(separator: "\n", omittingEmptySubsequences: false) {
            let isText = !line.isEmpty && !line.hasPrefix(" ")
            if isOpen, isText {
                paragraphs[paragraphs.count - 1] += " " + line
            } else {
                paragraphs.append(String(line))
            }
            isOpen = isText && line.count >= columns * 4 / 5
        }
        let lines = paragraphs.flatMap { $0.hasPrefix(" ") ? [$0] : TextWrap.lines($0, width: columns) }
        return lines.joined(separator: "\n")
    }

    private static func usage(_ option: Option) -> String {
        switch option.presence {
        case .required: option.usage
        case .optional, .bare: "[\(option.usage)]"
        case .repeatable: "[\(option.usage)]..."
        }
    }

    private static func note(_ option: Option) -> String {
        switch option.presence {
        case .required: " (required)"
        case .optional, .bare: ""
        case .repeatable: " (may be repeated)"
        }
    }

    package static let columns = 100

    /// Two columns, the second broken at spaces.
    private static func wrapped(_ rows: [(name: String, summary: String)]) -> String {
        let width = columns - 4 - (rows.map(\.name.count).max() ?? 0)
        var table = TextTable()
        for (name, summary) in rows {
            for (index, line) in TextWrap.lines(summary, width: width).enumerated() {
                table.add(index == 0 ? "  " + name : "", line)
            }
        }
        return table.text
    }

    /// Breaks the usage line at 100 columns.
    private static func wrapped(_ parts: [String]) -> String {
        var lines = [""]
        for part in parts {
            let last = lines[lines.count - 1]
            if last.count + part.count + 8 > columns {
                lines.append("           " + part)
            } else {
                lines[lines.count - 1] = last.isEmpty ? part : last + " " + part
            }
        }
        return lines.joined(separator: "\n")
    }
}
