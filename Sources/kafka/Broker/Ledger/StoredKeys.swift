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
        ledger.set(key, record, isReadBack: true)
        guard ledger[key]?.counter == record.counter else { return }
        unusable[key] = record.publicKey == nil ? record.unusableKey : nil
    }

    mutating func remove(_ key: KeyID) {
        ledger.remove(key)
        unusable[key] = nil
    }

    func ban(of key: KeyID) -> Ban? { bans.isEmpty ? nil : bans[BanID.key(key)] }

    /// - Parameter ban: nil = lifted.
    mutating func set(_ ban: Ban?, _ id: Digest) { bans[id] = ban }

    /// Every key, in order of first insertion.
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
