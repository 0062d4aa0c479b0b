internal import Settings

/// The program: the frame around each of its commands.
package enum AttestWorker {
    package static let name = "attest-worker"
    package static let version = "0.1.0"

    /// - Parameter arguments: without the program's own name.
    package static func main(_ arguments: [String], commands: [Command], console: Console) -> Int32 {
        do {
            let code = try dispatch(arguments, commands: commands, console: console)
            // A run that lost lines to a full disk is not a success.
            if let fault = console.outputFault { throw fault }
            return code
        } catch {
            for line in lines(for: error) where !line.isEmpty { console.printError("\(name): \(line)") }
            return exitCode(for: error)
        }
    }

    private static func dispatch(_ arguments: [String], commands: [Command], console: Console) throws -> Int32 {
        guard let first = arguments.first else {
            throw UsageFault("no command given. Try '\(name) --help'.")
        }
        switch first {
        case "--help", "-h", "help":
            let topic = try arguments.dropFirst().first.map { try find($0, in: commands) }
            console.print(topic.map(HelpText.of) ?? HelpText.overview(of: commands))
        case "--version": console.print("\(name) \(version)")
        default:
            let command = try find(first, in: commands)
            let rest = Array(arguments.dropFirst())
            guard OptionParser.asksForHelp(rest) else {
                return try command.run(OptionParser(command: command).parse(rest), console)
            }
            console.print(HelpText.of(command))
        }
        return ExitCode.done
    }

    private static func find(_ text: String, in commands: [Command]) throws(UsageFault) -> Command {
        if let command = commands.first(where: { $0.name == text }) { return command }
        let kind = text.hasPrefix("-") ? "option" : "command"
        let known = kind == "option" ? ["--help", "--version"] : commands.map(\.name)
        throw UsageFault(
            "unknown \(kind) '\(text.printable)'\(Suggestion.ending(for: text, among: known)) Try '\(name) --help'."
        )
    }

    /// A line for each thing that is wrong.
    private static func lines(for error: any Error) -> [String] {
        (error as? any ExplainedFault)?.lines.map(\.oneLine) ?? [sentence(for: error)]
    }

    /// One line that says what is wrong.
    package static func sentence(for error: any Error) -> String {
        let text = (error as? any ExplainedFault)?.sentence ?? String(describing: error)
        return text.oneLine
    }

    package static func exitCode(for error: any Error) -> Int32 {
        (error as? any ExplainedFault)?.exitCode ?? ExitCode.failed
    }
}
