/// The text of `--help`.
package enum HelpText {
    /// All commands, one line each.
    package static func overview(of commands: [Command]) -> String {
        var table = TextTable()
        for command in commands { table.add("  " + command.name, command.summary) }
        table.add("  help [COMMAND]", "this text, or the help of a command")
        table.add("  --version", "the program's version")
        return """
            Usage: \(AttestWorker.name) COMMAND [OPTIONS]

            Batch verification of Apple App Attest objects from Kafka topics and captures.

            \(table.text)

            '\(AttestWorker.name) COMMAND --help' explains a command.
            Exit codes: 0 done, 1 the work or its environment failed, 2 wrong usage or configuration.
            """
    }

    /// One command with its options.
    package static func of(_ command: Command) -> String {
        var parts = [AttestWorker.name, command.name]
        parts += command.options.map(usage)
        if let operands = command.operands { parts.append(operands.placeholder) }
        var table = TextTable()
        for option in command.options { table.add("  " + option.usage, option.summary + note(option)) }
        if let operands = command.operands { table.add("  " + operands.placeholder, operands.summary) }
        let text = "Usage: " + wrapped(parts) + "\n\n" + command.summary.capitalizedSentence + "\n\n" + table.text
        return command.notes.isEmpty ? text : text + "\n\n" + command.notes
    }

    private static func usage(_ option: Option) -> String {
        switch option.presence {
        case .required: option.usage
        case .optional: "[\(option.usage)]"
        case .repeatable: "[\(option.usage)]..."
        }
    }

    private static func note(_ option: Option) -> String {
        switch option.presence {
        case .required: " (required)"
        case .optional: ""
        case .repeatable: " (may be repeated)"
        }
    }

    /// Breaks the usage line at 100 columns.
    private static func wrapped(_ parts: [String]) -> String {
        var lines = [""]
        for part in parts {
            let last = lines[lines.count - 1]
            if last.count + part.count > 100 {
                lines.append("           " + part)
            } else {
                lines[lines.count - 1] = last.isEmpty ? part : last + " " + part
            }
        }
        return lines.joined(separator: "\n")
    }
}

extension String {
    fileprivate var capitalizedSentence: String { prefix(1).uppercased() + dropFirst() + "." }
}
