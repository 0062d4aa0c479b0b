package import AppAttest

/// The changes of one batch that has not committed yet: read before the ledger, dropped on an abort.
package struct LedgerOverlay: Sendable {
    package private(set) var changes: [Int32: [KeyID: KeyRecord]] = [:]

    package init() {}

    package subscript(partition: Int32, key: KeyID) -> KeyRecord? {
        get { changes[partition]?[key] }
        set { changes[partition, default: [:]][key] = newValue }
    }
}
