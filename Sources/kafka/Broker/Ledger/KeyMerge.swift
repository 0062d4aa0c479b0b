internal import AppAttest
internal import Pipeline
internal import Settings

/// The outcome for an imported key that the ledger may already have: an import adds, and never weakens the ledger.
enum KeyMerge: Equatable {
    case unchanged
    case write(KeyRecord)
    /// The ledger's key differs in its identity; it is kept, for this reason.
    case kept(String)

    /// - Parameter stored: the ledger's record; nil = it has none.
    init(_ imported: KeyRecord, into stored: KeyRecord?) {
        guard let stored else {
            self = .write(imported.withoutHistory)
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
        // A valid point may replace bytes that are not a point, never the other way.
        let sameKey = imported.publicKey == stored.publicKey && imported.unusableKey == stored.unusableKey
        guard sameKey || (stored.publicKey == nil && imported.publicKey != nil) else {
            return "the ledger has another public key for it"
        }
        return nil
    }

    private static func merged(_ imported: KeyRecord, _ stored: KeyRecord) -> KeyRecord {
        var merged = stored
        merged.join(imported)
        return imported.counter > stored.counter ? merged.withoutHistory : merged
    }
}

extension KeyRecord {
    /// An imported key of which no use is known is used by its import, where something older would end it: the time since
    /// which its partition notes uses, or the ledger's own record.
    ///
    /// - Parameters:
    ///   - mark: the newest one of its partition.
    ///   - stored: the ledger's record; nil = it has none.
    func used(by mark: PartitionMark?, over stored: KeyRecord?, _ settings: KeySettings) -> KeyRecord {
        guard use(by: nil) == nil, let time = mark?.streamTime else { return self }
        let hasEnded = stored.map { settings.hasEnded($0.use(by: mark), at: time) } ?? false
        let isNewer = stored.map { $0.counter < counter && ($0.use(by: nil) != nil || mark?.usesSince != nil) }
        guard hasEnded || isNewer ?? (mark?.usesSince != nil) else { return self }
        var record = self
        record.lastUse = UInt32(clamping: time.milliseconds / 1000)
        return record
    }
}
