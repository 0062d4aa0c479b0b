/// One command: its name, its options and what it does.
package struct Command: Sendable {
    package typealias Body = @Sendable (Arguments, Console) throws -> Int32

    package let name: String
    /// One line for the overview, lower case, without a full stop.
    package let summary: String
    package let options: [Option]
    package let operands: Operands?
    /// Further paragraphs of the command's help.
    package let notes: String
    /// Returns the exit code. Errors it throws are printed on one line; see ``ExplainedFault``.
    package let run: Body

    package init(
        name: String,
        summary: String,
        options: [Option],
        operands: Operands? = nil,
        notes: String = "",
        run: @escaping Body
    ) {
        self.name = name
        self.summary = summary
        self.options = options
        self.operands = operands
        self.notes = notes
        self.run = run
    }

    /// An argument that is not an option.
    package struct Operands: Sendable {
        package let placeholder: String
        package let count: ClosedRange<Int>
        package let summary: String
        /// The values that it takes; empty = any.
        package let choices: [String]

        package init(_ placeholder: String, count: ClosedRange<Int>, summary: String, choices: [String] = []) {
            self.placeholder = placeholder
            self.count = count
            self.summary = summary
            self.choices = choices
        }
    }
}

/// An option of a command: `--name VALUE`, `--name=VALUE`, or a switch.
package struct Option: Sendable {
    package enum Presence: Sendable {
        case optional, required, repeatable
        /// A switch that may have a value, as `--name=VALUE` alone.
        case bare
    }

    /// The name with its dashes.
    package let name: String
    /// nil for a switch.
    package let placeholder: String?
    package let presence: Presence
    package let summary: String
    /// The values that it takes; empty = any. Completions offer them.
    package let choices: [String]

    package static func value(
        _ name: String,
        _ placeholder: String,
        _ summary: String,
        _ presence: Presence = .optional,
        choices: [String] = []
    ) -> Option {
        Option(name: name, placeholder: placeholder, presence: presence, summary: summary, choices: choices)
    }

    package static func flag(_ name: String, _ summary: String) -> Option {
        Option(name: name, placeholder: nil, presence: .optional, summary: summary, choices: [])
    }

    /// A switch that one word limits or extends: `--name` or `--name=word`.
    package static func flag(_ name: String, or word: String, _ summary: String) -> Option {
        Option(name: name, placeholder: word, presence: .bare, summary: summary, choices: [word])
    }

    /// `--name VALUE` as help and messages show it.
    package var usage: String {
        guard let placeholder else { return name }
        return presence == .bare ? "\(name)[=\(placeholder)]" : "\(name) \(placeholder)"
    }
}
