internal import CProcess
package import CommandFrame
internal import Kafka
internal import Lab
internal import Settings

extension AttestWorker {
    /// Every command, in the order of the help text. A command is a file or a folder of `Commands`; `demo` is in `Lab`.
    package static let commands: [Command] = [
        .demo, .newConfig, .run, .createTopics, .publish, .replay, .simulate, .labApple, .exchangeReceipt, .inspect,
        .reasons, .newKeys,
        .jwks,
        .challenge, .rollout, .risk, .top, .tail, .importKeys, .exportKeys, .move, .reset, .ban, .unban, .forget, .bans,
        .key,
        .requeue, .gateway,
        .refreshReceipts, .schema,
        .completions, .man,
    ]

    /// Runs a command and returns its exit code: 0 done, 1 the work or the world failed, 2 usage or configuration.
    package static func main(_ arguments: [String]) -> Int32 {
        // Memory has keys: no core, and no other process of the same user, reads it.
        _ = process_forbid_dumps()
        // Clients that end in the background leave their groups.
        defer {
            ClientCloser.shared.finish()
            ProgramOutput.finish()
        }
        return main(arguments, commands: commands, console: .standard)
    }
}

/// Commands that are made of the table of commands.
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
