extension Command {
    static let exportKeys = Command(
        name: "export-keys",
        summary: "write the ledger topic's keys as a file",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--output", "FILE", "replaced if it is there; standard output where absent or -"),
        ],
        notes: """
            A JSON object per line, sorted by key ID: what import-keys and replay --keys read. Everything committed when the
            command starts is in it; workers may go on meanwhile. Consumed challenges and token ids are not in it.
            """
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        let keys = try KeyExport(try LedgerAccess(configuration), console: console)
        guard let path = arguments.string("--output"), path != "-" else {
            _ = try keys.write { try console.deliver($0) }
            return ExitCode.done
        }
        // Opened only now, so that an absent broker does not destroy the previous export.
        let file = try OutputFile(path, .whole, holds: .secret)
        let count = try keys.write { try file.write($0) }
        try file.close()
        console.print("\(count.grouped) keys written to \(path)")
        return ExitCode.done
    }
}
