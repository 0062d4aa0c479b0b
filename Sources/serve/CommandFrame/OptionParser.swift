internal import Settings

/// Reads a command's arguments by its declared options; anything else is a ``UsageFault`` of one sentence.
package struct OptionParser {
    let command: Command

    /// Whether `--help` is among the arguments, before any `--`.
    package static func asksForHelp(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
    }

    package func parse(_ arguments: [String]) throws(UsageFault) -> Arguments {
        var parsed = Arguments()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                parsed.operands.append(contentsOf: rest)
                break
            }
            guard argument.hasPrefix("-"), argument != "-" else {
                parsed.operands.append(argument)
                continue
            }
            try parseOption(argument, &rest, into: &parsed)
        }
        try checkRequired(parsed)
        try checkOperands(parsed)
        return parsed
    }

    private func parseOption(
        _ argument: String,
        _ rest: inout ArraySlice<String>,
        into parsed: inout Arguments
    ) throws(UsageFault) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let option = command.options.first(where: { $0.name == name }) else { throw unknown(name) }
        if option.presence != .repeatable, parsed.has(name) {
            throw fault("\(name) is given twice.")
        }
        guard option.placeholder != nil, option.presence != .bare || parts.count > 1 else {
            guard parts.count == 1 else { throw fault("\(name) takes no value.") }
            parsed.values[name] = [""]
            return
        }
        parsed.values[name, default: []].append(try value(of: option, inline: parts.dropFirst().first, &rest))
    }

    private func value(
        of option: Option,
        inline: Substring?,
        _ rest: inout ArraySlice<String>
    ) throws(UsageFault) -> String {
        if let inline {
            guard !inline.isEmpty else { throw missingValue(option) }
            guard option.presence != .bare || option.choices.contains(String(inline)) else {
                throw fault("\(option.usage) takes no '\(String(inline).printable)'.")
            }
            return String(inline)
        }
        guard let next = rest.first, !next.isEmpty, !next.hasPrefix("--") else { throw missingValue(option) }
        rest.removeFirst()
        return next
    }

    private func checkRequired(_ parsed: Arguments) throws(UsageFault) {
        let missing = command.options.filter { $0.presence == .required && !parsed.has($0.name) }
        guard !missing.isEmpty else { return }
        throw fault("\(missing.map(\.usage).joined(separator: ", ")) \(missing.count == 1 ? "is" : "are") required.")
    }

    private func checkOperands(_ parsed: Arguments) throws(UsageFault) {
        let allowed = command.operands?.count ?? 0...0
        if parsed.operands.count > allowed.upperBound {
            let extra = parsed.operands[allowed.upperBound]
            throw fault("unexpected argument '\(extra.printable)'.")
        }
        if parsed.operands.count < allowed.lowerBound {
            throw fault("\(command.operands?.placeholder ?? "an argument") is missing.")
        }
    }

    private func unknown(_ name: String) -> UsageFault {
        let known = command.options.map(\.name) + ["--help"]
        return fault("unknown option \(name.printable)\(Suggestion.ending(for: name, among: known))")
    }

    private func missingValue(_ option: Option) -> UsageFault {
        fault("\(option.name) needs a value: \(option.usage).")
    }

    private func fault(_ sentence: String) -> UsageFault {
        UsageFault("\(command.name): \(sentence) Try '\(AttestWorker.name) \(command.name) --help'.")
    }
}

/// The command line asks for something that does not exist or is impossible.
package struct UsageFault: ExplainedFault, Equatable {
    package let sentence: String
    package var exitCode: Int32 { ExitCode.usage }

    package init(_ sentence: String) { self.sentence = sentence }
}
