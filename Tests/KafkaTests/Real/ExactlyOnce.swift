import TestSupport

/// What only a worker can pass that commits outputs, ledger and offsets in one transaction.
enum ExactlyOnce {
    /// The program has the commands that came with it.
    static let isBuilt = WorkerBinary.has(command: "export-keys")
    static let whyNot = "the program has no export-keys yet: it is not known to deliver exactly once"
}
