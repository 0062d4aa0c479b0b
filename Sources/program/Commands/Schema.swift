internal import CommandFrame
internal import Settings

extension Command {
    static let schema = Command(
        name: "schema",
        summary: "the JSON Schema of a configuration file or of a record that the worker writes",
        options: [],
        operands: Command.Operands(
            "NAME",
            count: 0...1,
            summary: "one of them; their names without it",
            choices: ContractSchema.all.map(\.name)
        ),
        notes: "Draft 2020-12. What a schema cannot say, such as two keys of one name, 'run --check=config' finds."
    ) { arguments, console in
        let entries = ContractSchema.all
        guard let name = arguments.operands.first else {
            var table = TextTable()
            for entry in entries { table.add(entry.name, entry.summary) }
            console.print(table.text)
            return ExitCode.done
        }
        guard let entry = entries.first(where: { $0.name == name }) else {
            let ending = Suggestion.ending(for: name, among: entries.map(\.name))
            throw UsageFault(
                "no schema is named '\(name.printable)'\(ending) '\(AttestWorker.name) schema' lists all."
            )
        }
        try console.deliver(Array(entry.text.utf8))
        return ExitCode.done
    }
}
