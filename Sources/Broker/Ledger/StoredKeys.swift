internal import AppAttest
internal import Pipeline
internal import Settings

/// Keys with everything that the ledger topic says of them: a ``KeyLedger``, plus the bytes of unusable points, which a
/// ``KeyLedger`` does not keep.
struct StoredKeys {
    private var ledger = KeyLedger()
    private var unusable: [KeyID: [UInt8]] = [:]

    var count: Int { ledger.count }

    subscript(key: KeyID) -> KeyRecord? {
        guard var record = ledger[key] else { return nil }
        if record.publicKey == nil { record.unusableKey = unusable[key] ?? [] }
        return record
    }

    mutating func set(_ key: KeyID, _ record: KeyRecord) {
        ledger.set(key, record)
        unusable[key] = record.publicKey == nil ? record.unusableKey : nil
    }

    mutating func remove(_ key: KeyID) {
        ledger.remove(key)
        unusable[key] = nil
    }

    /// Every key, in order of first insertion.
    var ids: [KeyID] {
        var ids: [KeyID] = []
        ids.reserveCapacity(count)
        ledger.forEach { id, _ in ids.append(id) }
        return ids
    }

    /// Takes a line of a KEYS file.
    mutating func add(_ key: ImportedKey) {
        set(key.keyID, KeyTable.record(of: key, after: ledger[key.keyID]))
    }
}
