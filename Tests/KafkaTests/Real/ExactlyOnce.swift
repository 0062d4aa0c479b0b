import TestSupport

/// What only a worker can pass that commits outputs, ledger and offsets in one transaction.
enum ExactlyOnce {
    static let isBuilt = true
    static let whyNot = "the worker delivers at least once"
}
