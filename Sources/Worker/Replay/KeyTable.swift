internal import AppAttest
internal import Crypto
internal import Pipeline

/// A KEYS file as the ledger that a replay starts with.
enum KeyTable {
    /// - Parameter path: as `--keys` names it.
    /// - Throws: ``CommandFault`` naming a line that cannot be read.
    static func read(_ path: String) throws -> KeyLedger {
        var ledger = KeyLedger()
        try KeysFile.read(path) { key in
            var record = record(of: key)
            // Of two lines for one key the later counts, but a counter is never lowered.
            record.counter = max(record.counter, ledger[key.keyID]?.counter ?? 0)
            ledger.set(key.keyID, record)
        }
        return ledger
    }

    /// A point that is none, or not the key ID's own, is kept as unusable: its assertions are `key-invalid`.
    static func record(of key: ImportedKey) -> KeyRecord {
        let point = P256PublicKey(x963: key.publicKeyBytes.span)
        return KeyRecord(
            publicKey: point.flatMap { KeyID(of: $0) == key.keyID ? $0 : nil },
            counter: key.counter,
            app: key.app,
            appleAppID: key.appleAppID,
            environment: key.environment,
            registeredAt: EvaluationTime(milliseconds: 0),
            nonce: key.nonce,
            lastRequest: key.lastRequest.map { LastRequest(id: $0.id, valueDigest: $0.valueSHA256) }
        )
    }
}
