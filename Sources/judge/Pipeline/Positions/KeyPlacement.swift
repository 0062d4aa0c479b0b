/// Whether keys lie where requests look for them. A key's partition depends on the number of partitions: under another
/// number its requests come to a ledger that has never seen them, and what was used before would be accepted again.
package enum KeyPlacement {
    /// What a mark's number of partitions says against the topics', for the operator; nil = nothing.
    ///
    /// - Parameter marked: nil = an older version's mark, or none.
    package static func contradiction(_ marked: Int32?, _ partitions: Int32) -> String? {
        guard let marked, marked != partitions else { return nil }
        switch marked {
        case 0:
            return "keys are moved into this ledger, and not all of them are here: run attest-worker move again \(page)"
        case ..<0:
            let back =
                "; to go back, if no worker has used it: attest-worker reset --config DIR --offsets-only --to-applied"
            return "the keys of this ledger were moved to another one: use the configuration that names it"
                + (marked == -partitions ? back : "") + " \(page)"
        default:
            return
                "the ledger's keys were placed on \(marked) \(marked == 1 ? "partition" : "partitions") and the topics have "
                + "\(partitions): most keys' requests would find none of their counters, and used assertions would be "
                + "accepted again; \(remedy)"
        }
    }

    /// The way to another number of partitions that forgets nothing.
    package static let remedy = "move the keys with attest-worker move --config DIR --to NEW \(page)"
    private static let page = "(Runbook, Another number of partitions)"
}
