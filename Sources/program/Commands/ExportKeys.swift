internal import Broker
internal import CommandFrame
internal import Settings

extension Command {
    static let exportKeys = Command(
        name: "export-keys",
        summary: "write the ledger topic's keys as a file",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--output", "FILE", "replaced if it exists; standard output where absent or -"),
            .value("--partitions", "P,…", "only these, such as 3 or 0,2,5-7; all of them without it"),
        ],
        notes: """
            Writes one JSON object per line, sorted by key ID, as import-keys and replay --keys read it. The export has
            everything that was committed when the command started; workers may keep running. It does not have consumed
            challenges and token ids.
            """
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        let chosen = try arguments.partitions()
        let path = arguments.string("--output").flatMap { $0 == "-" ? nil : $0 }
        let folder = path.map(Folder.scratch) ?? Folder.temporary
        let keys = try ProgressMeter.during("export-keys", unit: "ledger record", console: console) { done in
            try KeyExport(try LedgerAccess(configuration), only: chosen, folder: folder, progress: done)
        }
        if let misplacement = keys.misplacement { console.printError("warning: \(misplacement)") }
        let (keysLeft, installationsLeft) = keys.bansLeftOut
        if keysLeft + installationsLeft > 0 {
            console.printError(
                "warning: not in the export: the bans of \(keysLeft.counted("key")) that the ledger does not have and of "
                    + "\(installationsLeft.counted("installation")); where they are needed ban them again"
            )
        }
        guard let path else {
            _ = try keys.write { try console.deliver(VisibleJSON.of($0)) }
            return ExitCode.done
        }
        // Opened only now, so that an absent broker does not destroy the previous export.
        let file = try OutputFile(path, .whole, holds: .secret)
        let count = try keys.write { try file.write($0) }
        try file.close()
        console.print("\(count.counted("key")) written to \(path)")
        return ExitCode.done
    }
}
