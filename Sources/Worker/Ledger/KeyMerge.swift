internal import AppAttest
internal import Pipeline

/// What becomes of an imported key where the ledger may know it already: an import adds, and never weakens what stands.
enum KeyMerge: Equatable {
    case unchanged
    case write(KeyRecord)
    /// The ledger's key differs in what makes it that key; it is kept, for this reason.
    case kept(String)

    /// - Parameter stored: the ledger's record; nil = it has none.
    init(_ imported: KeyRecord, into stored: KeyRecord?) {
        guard let stored else {
            self = .write(imported)
            return
        }
        if let conflict = Self.conflict(imported, stored) {
            self = .kept(conflict)
            return
        }
        let merged = Self.merged(imported, stored)
        self = merged == stored ? .unchanged : .write(merged)
    }

    private static func conflict(_ imported: KeyRecord, _ stored: KeyRecord) -> String? {
        guard imported.appleAppID == stored.appleAppID else {
            return "the ledger has it for Apple App ID \(stored.appleAppID.printable)"
        }
        guard imported.environment == stored.environment else {
            return "the ledger has it for the environment \(stored.environment.rawValue)"
        }
        if let app = imported.app, let bound = stored.app, app != bound {
            return "the ledger has it bound to \(bound.printable)"
        }
        // The right point may take the place of bytes that are none, never the other way.
        let sameKey = imported.publicKey == stored.publicKey && imported.unusableKey == stored.unusableKey
        guard sameKey || (stored.publicKey == nil && imported.publicKey != nil) else {
            return "the ledger has another public key for it"
        }
        return nil
    }

    /// The one with the higher counter is the newer; it counts where both say something, the ledger's where they are even. Of
    /// attestations the one issued later counts.
    private static func merged(_ imported: KeyRecord, _ stored: KeyRecord) -> KeyRecord {
        let (newer, older) = imported.counter > stored.counter ? (imported, stored) : (stored, imported)
        var merged = stored
        merged.publicKey = stored.publicKey ?? imported.publicKey
        if merged.publicKey != nil { merged.unusableKey = [] }
        merged.counter = newer.counter
        merged.app = stored.app ?? imported.app
        (merged.nonce, merged.issued) = newer.lastAttestation(orLaterOf: older)
        merged.lastRequest = newer.lastRequest ?? older.lastRequest
        return merged
    }
}
