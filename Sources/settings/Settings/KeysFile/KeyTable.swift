internal import AppAttest
internal import AppCheck
internal import Crypto
package import Pipeline

/// A KEYS file as the ledger that a replay starts with.
package enum KeyTable {
    /// - Parameter path: as `--keys` names it.
    /// - Throws: ``CommandFault`` naming a line that cannot be read.
    package static func read(_ path: String) throws -> (ledger: PartitionLedger, unusable: UnusableKeys) {
        var (ledger, unusable) = (PartitionLedger(), UnusableKeys())
        try KeysFile.read(path) { key, line in
            let record = record(of: key, after: ledger.keys[key.keyID])
            unusable.note(key, record, line: line)
            ledger.keys.set(key.keyID, record)
            guard let ban = key.ban else { return }
            let id = BanID.key(key.keyID)
            ledger.apply(.ban(id, ledger.bans[id]?.joined(ban) ?? ban))
        }
        return (ledger, unusable)
    }

    /// Joins two lines for one key: the later counts, but takes nothing back (see ``KeyRecord/join(_:)``).
    ///
    /// - Parameter earlier: the record of the lines before it; nil = they have no such key.
    package static func record(of key: ImportedKey, after earlier: KeyRecord?) -> KeyRecord {
        var record = record(of: key)
        if let earlier { record.join(earlier) }
        return record
    }

    /// A point that is invalid, or not the key ID's own, is kept as unusable: its assertions are `key-invalid`.
    ///
    /// A KEYS line contains neither the key's registration time nor its validation category; no result depends on them.
    package static func record(of key: ImportedKey) -> KeyRecord {
        let point = P256PublicKey(x963: key.publicKeyBytes.span)
        var record = KeyRecord(
            publicKey: point.flatMap { KeyID(of: $0) == key.keyID ? $0 : nil },
            counter: key.counter,
            app: key.app,
            appleAppID: key.appleAppID,
            environment: key.environment,
            registeredAt: EvaluationTime(milliseconds: 0),
            nonce: key.nonce,
            issued: key.issued,
            lastRequest: key.lastRequest.flatMap { LastRequest($0) },
            risk: key.risk
        )
        record.lastUse = key.lastUse
        let unseen = key.unseenCounters
        record.counters =
            KeyCounters(highest: key.counter, skipped: key.skippedCounters, unseen: unseen) ?? record.counters
        guard record.publicKey == nil else { return record }
        // In the ledger topic 64 bytes mean a checked point: an unusable key of that length gets a byte in front.
        record.unusableKey = (key.publicKeyBytes.count == 64 ? [0] : []) + key.publicKeyBytes
        return record
    }
}

extension KeyRecord {
    /// Takes what another record of the same key knows. The record with the higher counter is the newer, this one where
    /// they are equal: its last request counts where both have one. What is bound stays bound, what is used stays used,
    /// a point stays a point; the later attestation counts, the later metric and the later use.
    package mutating func join(_ other: KeyRecord) {
        let (newer, older) = other.counter > counter ? (other, self) : (self, other)
        publicKey = publicKey ?? other.publicKey
        if publicKey != nil { unusableKey = [] }
        counters = counters.joined(other.counters)
        app = app ?? other.app
        // Nonce and time of issue belong together: of two attestations the one issued later counts; if not both records say
        // when, the newer one's nonce counts.
        let isEarlier = newer.issued.flatMap { issued in older.issued.map { issued < $0 } } ?? false
        let (first, second) = isEarlier ? (older, newer) : (newer, older)
        (nonce, issued) = (first.nonce ?? second.nonce, first.issued ?? second.issued)
        lastRequest = newer.lastRequest ?? older.lastRequest
        risk = RiskMetric.later(risk, other.risk)
        // Of a use that is not noted the token says when, and else no older note counts: the key is in use.
        let noted = newer.lastUse != 0 ? newer.lastUse : newer.lastRequest?.issuedAt ?? 0
        lastUse = noted == 0 || max(newer.lastUse, older.lastUse) == 0 ? 0 : max(noted, older.lastUse)
    }
}

extension LastRequest {
    /// nil for a request that was not accepted: only accepted ones are remembered.
    fileprivate init?(_ request: ImportedKey.LastRequest) {
        guard request.verdict == ImportedKey.LastRequest.accepted else { return nil }
        self.init(
            id: ExactText(request.id),
            valueDigest: request.valueSHA256,
            issuedAt: UInt32(clamping: request.issuedAt ?? 0),
            expiresAt: UInt32(clamping: request.expiresAt ?? 0)
        )
    }
}
