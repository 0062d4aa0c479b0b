internal import Settings

extension Command {
    static let completions = Command(
        name: "completions",
        summary: "the completions of a shell, for its folder of completions",
        options: [],
        operands: Command.Operands("SHELL", count: 1...1, summary: "bash", choices: ["bash"]),
        notes: "For one session: source <(attest-worker completions bash)"
    ) { arguments, console in
        guard arguments.operands == ["bash"] else {
            throw UsageFault("completions are made for bash, not for '\((arguments.operands.first ?? "").printable)'.")
        }
        try console.deliver(Array(BashCompletion.script(of: AttestWorker.commands).utf8))
        return ExitCode.done
    }

    static let man = Command(
        name: "man",
        summary: "the manual page, for man(1)",
        options: [],
        notes: "To read it: attest-worker man | man -l -"
    ) { _, console in
        try console.deliver(Array(ManualPage.text(of: AttestWorker.commands).utf8))
        return ExitCode.done
    }
}
