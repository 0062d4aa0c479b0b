internal import AppAttest
internal import Crypto

extension LedgerEntry {
    /// nil = imported with bytes that are not a point.
    var publicKey: P256PublicKey? { flags.contains(.usableKey) ? P256PublicKey(uncheckedX: x, y: y) : nil }

    /// - Parameters:
    ///   - app: the number of the record's app.
    ///   - appleAppID: the number of the record's Apple App ID.
    init(_ key: KeyID, _ record: PlainKeyRecord, app: UInt32, appleAppID: UInt32) {
        var flags: Flags = .usableKey
        if record.isProduction { flags.insert(.production) }
        if record.nonce != nil { flags.insert(.nonce) }
        if record.issued != nil { flags.insert(.issued) }
        if record.category != nil { flags.insert(.category) }
        if record.last != nil { flags.insert(.lastRequest) }
        self.init(
            keyID: key,
            x: record.x,
            y: record.y,
            nonce: record.nonce ?? key.digest,
            valueDigest: record.last?.valueDigest ?? key.digest,
            requestID: record.last?.requestID ?? (0, 0, 0, 0, 0),
            registeredAt: record.registeredAt,
            issued: (record.issued?.notBefore.milliseconds ?? 0, record.issued?.serial ?? 0),
            tokenTimes: (record.last?.issuedAt ?? 0, record.last?.expiresAt ?? 0),
            risk: record.risk,
            counter: record.counter,
            unseen: record.unseen,
            category: record.category ?? 0,
            app: app,
            appleAppID: appleAppID,
            flags: flags
        )
    }
}
