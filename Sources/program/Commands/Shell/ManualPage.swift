internal import CommandFrame

/// The manual page in roff's `man` macros, made of the command table.
enum ManualPage {
    static func text(of commands: [Command]) -> String {
        // Without a date: the same program writes the same page.
        let head = [
            #".TH ATTEST\-WORKER 1 "" "\#(AttestWorker.name) \#(AttestWorker.version)" "User Commands""#, ".SH NAME",
            escaped(AttestWorker.name) + #" \- batch verification of Apple App Attest objects"#, ".SH SYNOPSIS",
            #".B attest\-worker"#, ".I COMMAND", ".RI [ OPTIONS ]", ".SH DESCRIPTION",
        ]
        let description = [
            "Consumes requests from Kafka, verifies attestations and assertions in parallel, keeps a counter for each key,",
            "mints App Check tokens, and writes results, tokens and events exactly once. Captures of the requests are",
            "replayed without a broker.", ".PP", "The first command that a new user wants is",
            #".BR attest\-worker " demo" :"#, "it needs no set-up.", ".SH COMMANDS",
        ]
        let tail = [
            ".SH EXIT STATUS", ".TP", ".B 0", "Done. Refused requests are results, not failures.", ".TP", ".B 1",
            "The work or its environment failed.", ".TP", ".B 2", "Wrong usage or configuration.", ".SH FILES", ".TP",
            ".I DIR/worker.json", "Topics, keys, anchors and limits.", ".TP", ".I DIR/apps.json", "Projects and apps.",
            ".TP", ".I DIR/kafka.properties", "Properties of librdkafka.", ".PP",
            #"\(lqattest\-worker schema\(rq prints their JSON Schemas."#,
        ]
        let sections = [
            list("SIGNALS", signals), list("ENVIRONMENT", environment),
            list("EXAMPLES", examples, prefix: AttestWorker.name + " "),
        ]
        return (head + description + commands.flatMap(section) + tail + sections.joined()).joined(separator: "\n")
            + "\n"
    }

    private static func section(_ command: Command) -> [String] {
        var lines = [".SS " + escaped(command.name), escaped(sentence(command.summary))]
        for option in command.options {
            lines += [".TP", #"\fB\#(escaped(option.name))\fR\#(value(of: option))"#]
            lines.append(escaped(sentence(option.summary)) + note(option))
        }
        if let operands = command.operands {
            lines += [".TP", #"\fI\#(escaped(operands.placeholder))\fR"#, escaped(sentence(operands.summary))]
        }
        guard !command.notes.isEmpty else { return lines }
        return lines + [".PP"] + command.notes.split(separator: "\n").flatMap(note)
    }

    /// A line of a command's notes; what is indented there is an example.
    private static func note(_ line: Substring) -> [String] {
        let text = escaped(String(line.drop { $0 == " " }))
        return line.hasPrefix(" ") ? [".RS", ".nf", text, ".fi", ".RE"] : [text]
    }

    private static func value(of option: Option) -> String {
        guard let placeholder = option.placeholder else { return "" }
        return option.presence == .bare
            ? #"[=\fI\#(escaped(placeholder))\fR]"# : #" \fI\#(escaped(placeholder))\fR"#
    }

    private static func note(_ option: Option) -> String {
        switch option.presence {
        case .required: " Required."
        case .repeatable: " May be repeated."
        case .optional, .bare: ""
        }
    }

    private static func sentence(_ text: String) -> String {
        let full = text.hasSuffix(".") || text.hasSuffix(")") ? "" : "."
        return text.prefix(1).uppercased() + text.dropFirst() + full
    }

    private static func named(_ character: Character) -> String {
        character.unicodeScalars.map { scalar in
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
        }.joined()
    }

    /// Text in which roff sees no request, escape or hyphen of its own.
    static func escaped(_ text: String) -> String {
        let inner = text.map { character in
            switch character {
            case "\\": #"\e"#
            case "-": #"\-"#
            case "'": #"\(aq"#
            case "`": #"\(ga"#
            case "^": #"\(ha"#
            case "~": #"\(ti"#
            default: character.isASCII ? String(character) : named(character)
            }
        }.joined()
        return inner.hasPrefix(".") ? #"\&"# + inner : inner
    }
}
