internal import AppCheck
internal import CommandFrame
internal import Reports
internal import Settings
internal import Study

extension Command {
    static let reasons = Command(
        name: "reasons",
        summary: "what each reason of a refusal, deferral or dead letter means, and what to do",
        options: [],
        operands: Command.Operands(
            "REASON",
            count: 0...1,
            summary: "one reason, e.g. nonce-mismatch; all without it",
            choices: ReasonEntry.all.map(\.code)
        ),
        notes: "The page Reasons has the same texts."
    ) { arguments, console in
        guard let code = arguments.operands.first else {
            console.print(ReasonView.table(ReasonEntry.all))
            return ExitCode.done
        }
        guard let entry = ReasonEntry.find(code) else {
            let ending = Suggestion.ending(for: code, among: ReasonEntry.all.map(\.code))
            throw UsageFault("unknown reason '\(code.printable)'\(ending) 'attest-worker reasons' lists all.")
        }
        console.print(ReasonView.whole(entry))
        return ExitCode.done
    }
}
