internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Pipeline
internal import Settings

/// Keys with everything that the ledger topic says of them: a ``KeyLedger``, plus the bytes of unusable points, which a
/// ``KeyLedger`` does not keep.
struct StoredKeys {
    private var ledger = KeyLedger()
    private var unusable: [KeyID: [UInt8]] = [:]
    /// The bans by ``AppCheck/BanID``: of keys, whether the ledger has them or not, and of installations.
    private(set) var bans: [Digest: Ban] = [:]

    var count: Int { ledger.count }

    subscript(key: KeyID) -> KeyRecord? {
        guard var record = ledger[key] else { return nil }
        if record.publicKey == nil { record.unusableKey = unusable[key] ?? [] }
        return record
    }

    /// The higher counter of two records of a key stays, as in every restore: a late one may lie behind it.
    mutating func set(_ key: KeyID, _ record: KeyRecord) {
        ledger.set(key, record, mayBeLate: true)
        guard ledger[key]?.counter == record.counter else { return }
        unusable[key] = record.publicKey == nil ? record.unusableKey : nil
    }

    mutating func remove(_ key: KeyID) {
        ledger.remove(key)
        unusable[key] = nil
    }

    /// Takes a record of the topic; those of a partition in their order.
    mutating func apply(_ change: LedgerChange) {
        switch change {
        case .key(let id, let stored): set(id, stored)
        case .keyForgotten(let id): remove(id)
        case .ban(let id, let ban): set(ban, id)
        case .banLifted(let id): set(nil, id)
        default: break
        }
    }

    /// Leaves out the keys that have ended, by their partition's mark.
    mutating func removeEnded(_ settings: KeySettings, by mark: PartitionMark) {
        guard settings.expire, let time = mark.streamTime else { return }
        var ended: [KeyID] = []
        ledger.forEach { id, record in if settings.hasEnded(record.use(by: mark), at: time) { ended.append(id) } }
        for id in ended { remove(id) }
    }

    func ban(of key: KeyID) -> Ban? { bans.isEmpty ? nil : bans[BanID.key(key)] }

    /// - Parameter ban: nil = lifted.
    mutating func set(_ ban: Ban?, _ id: Digest) { bans[id] = ban }

    /// Every key, in any order.
    var ids: [KeyID] {
        var ids: [KeyID] = []
        ids.reserveCapacity(count)
        ledger.forEach { id, _ in ids.append(id) }
        return ids
    }

    /// Takes a line of a KEYS file.
    ///
    /// - Returns: the record that it becomes.
    mutating func add(_ key: ImportedKey) -> KeyRecord {
        let record = KeyTable.record(of: key, after: ledger[key.keyID])
        set(key.keyID, record)
        if let ban = key.ban { set(self.ban(of: key.keyID)?.joined(ban) ?? ban, BanID.key(key.keyID)) }
        return record
    }
}
