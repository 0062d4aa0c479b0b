package import AppAttest
package import Crypto

/// The keys of one partition (in replay: of all), with their counters. Owned by the loop.
///
/// About 220 bytes per key: see ``LedgerTable``.
package struct KeyLedger: Sendable {
    /// The result of looking up a key, as Resolve needs it.
    package enum Lookup: Sendable, Equatable {
        case unknown
        /// Imported with bytes that are not a point.
        case unusable
        case key(P256PublicKey)
    }

    private(set) var table = LedgerTable()
    private(set) var profiles = KeyProfiles()
    /// The bits of ``KeyCounters/skipped`` where one is set: few keys have some, and none without a window.
    private var skipped: [UInt32: UInt64] = [:]

    package init() {}

    package var count: Int { table.count }
    /// Keys whose record does not fit, and lies beside the table.
    package var oddCount: Int { table.oddCount }

    /// Changes nothing; mutating, so that it works in place: a ledger that is only read is copied, with all its counts.
    package mutating func lookup(_ key: KeyID) -> Lookup {
        guard let slot = table.find(key) else { return .unknown }
        guard let key = publicKey(at: slot) else { return .unusable }
        return .key(key)
    }

    package subscript(key: KeyID) -> KeyRecord? { table.find(key).map { record(at: $0, forRequestOf: nil) } }

    /// The record for judging a request: the last request is left out unless its value had this digest. With any other
    /// the request is not a duplicate, whatever its id, which need not be unpacked. Mutating like ``lookup(_:)``.
    package mutating func record(_ key: KeyID, forRequestOf digest: Digest) -> KeyRecord? {
        table.find(key).map { record(at: $0, forRequestOf: digest) }
    }

    /// - Parameter mayBeLate: the record was read back, and may have been delivered late: a present one with a higher
    ///   counter stays, and counters that either has used are used, as no writer lowers a counter.
    package mutating func set(_ key: KeyID, _ record: KeyRecord, mayBeLate: Bool = false) {
        let fingerprint = KeyFingerprint(key)
        let slot = table.find(key, fingerprint)
        let content = content(key, fingerprint, slot, record)
        put(key, fingerprint, slot, content, record.counters, mayBeLate: mayBeLate)
    }

    /// Sets a record that is read back from the bytes that ``LedgerCodec`` writes. On the topic 64 bytes are a point that
    /// was checked to be the key ID's own: it is not hashed again, which would double the time of a restore.
    ///
    /// - Parameter value: where the record's value lies in `bytes`.
    /// - Returns: false, and nothing is set, for bytes of any other form: the general decoder reads those.
    mutating func setPlain(
        _ key: KeyID,
        _ bytes: Span<UInt8>,
        in value: Range<Int>,
        mayBeLate: Bool = true
    ) -> Bool {
        guard let record = PlainKeyRecord(bytes, in: value), let profile = profile(of: record, bytes) else {
            return false
        }
        var (last, requestID): (LedgerEntry.Last?, ExactText?)
        if let (id, digest, issuedAt, expiresAt) = record.last {
            let packed = PackedID(bytes.extracting(id), &profiles.topics)
            if packed == nil {
                requestID = ExactText(validating: id.map { bytes[$0] })
                if requestID == nil { return false }
            }
            last = .init(id: packed ?? .other, valueDigest: digest, issuedAt: issuedAt, expiresAt: expiresAt)
        }
        let counters = KeyCounters(highest: record.counter, skipped: record.skipped, unseen: record.unseen)
        let (fingerprint, registeredAt) = (KeyFingerprint(key), EvaluationTime(milliseconds: record.registeredAt))
        guard
            let entry = LedgerEntry(
                fingerprint,
                P256PublicKey(uncheckedX: record.x, y: record.y),
                nonce: record.nonce,
                last: last,
                registeredAt: registeredAt,
                issued: record.issued,
                risk: record.risk,
                counters: counters,
                lastUse: record.lastUse,
                profile: profile
            )
        else { return false }
        let content = LedgerTable.Content(entry: entry, requestID: requestID)
        put(key, fingerprint, table.find(key, fingerprint), content, counters, mayBeLate: mayBeLate)
        return true
    }

    private mutating func profile(of record: PlainKeyRecord, _ bytes: Span<UInt8>) -> UInt16? {
        let (apple, environment) = (
            bytes.extracting(record.appleAppID), record.isProduction ? Environment.production : .development
        )
        guard let app = record.app else {
            return profiles.number(app: nil, appleAppID: apple, environment, category: record.category)
        }
        return profiles.number(
            app: bytes.extracting(app),
            appleAppID: apple,
            environment,
            category: record.category
        )
    }

    private mutating func put(
        _ key: KeyID,
        _ fingerprint: KeyFingerprint,
        _ slot: UInt32?,
        _ content: consuming LedgerTable.Content,
        _ counters: KeyCounters,
        mayBeLate: Bool
    ) {
        guard let slot else {
            return setSkipped(table.insert(key, fingerprint, content), counters.skipped)
        }
        var counters = counters
        if mayBeLate {
            let (present, own) = (history(at: slot), counters.highest)
            counters = present.joined(counters)
            guard own >= present.highest else { return setSkipped(slot, counters.skipped) }
            content.entry.set(counters)
            content.odd?.counters = counters
        }
        setSkipped(slot, counters.skipped)
        table.replace(slot, key, content)
    }

    private func history(at slot: UInt32) -> KeyCounters {
        let bits = skipped.isEmpty ? 0 : skipped[slot] ?? 0
        if let odd = table.oddRecord(slot) {
            return KeyCounters(highest: odd.counter, skipped: bits, unseen: odd.unseen)
        }
        return table.with(slot) { KeyCounters(highest: $0.counter, skipped: bits, unseen: $0.unseen) }
    }

    private mutating func setSkipped(_ slot: UInt32, _ bits: UInt64) {
        if bits != 0 { skipped[slot] = bits } else if !skipped.isEmpty { skipped[slot] = nil }
    }

    package mutating func remove(_ key: KeyID) {
        guard let slot = table.remove(key) else { return }
        setSkipped(slot, 0)
    }

    /// Every key with its record, in any order.
    package func forEach(_ body: (KeyID, KeyRecord) throws -> Void) rethrows {
        try table.forEach(in: 0..<table.end) { key, slot in try body(key(), record(at: slot, forRequestOf: nil)) }
    }

    func publicKey(at slot: UInt32) -> P256PublicKey? {
        if let odd = table.oddRecord(slot) { return odd.publicKey }
        return table.publicKey(slot)
    }

    func find(_ key: KeyID) -> UInt32? { table.find(key) }
}

extension KeyLedger {
    /// - Parameter digest: of the request that is judged; nil = the last request is wanted in any case.
    private func record(at slot: UInt32, forRequestOf digest: Digest?) -> KeyRecord {
        if var odd = table.oddRecord(slot) {
            if let digest, odd.lastRequest?.valueDigest != digest { odd.lastRequest = nil }
            odd.skipped = skipped[slot] ?? 0
            return odd
        }
        let bits = skipped.isEmpty ? 0 : skipped[slot] ?? 0
        return table.with(slot) { entry in
            let profile = profiles[entry.profile]
            let isAsked = digest.map { entry.valueDigest == $0 } ?? true
            return KeyRecord(
                publicKey: entry.publicKey,
                environment: profile.environment,
                riskValue: entry.risk?.value ?? 0,
                riskCreatedAt: entry.risk?.createdAt ?? 0,
                names: profiles.names(entry.profile),
                skipped: bits,
                counter: entry.counter,
                lastUse: entry.lastUse,
                validationCategory: profile.category,
                unseen: entry.unseen,
                registeredAt: EvaluationTime(milliseconds: entry.registeredAt),
                nonce: entry.flags.contains(.nonce) ? entry.nonce : nil,
                issued: entry.issued,
                lastRequest: isAsked ? entry.last.map { lastRequest($0, at: slot) } : nil
            )
        }
    }

    private func lastRequest(_ last: LedgerEntry.Last, at slot: UInt32) -> LastRequest {
        LastRequest(
            id: last.id.bytes(profiles.topics).flatMap { ExactText(validating: $0) } ?? table.requestID(slot) ?? "",
            valueDigest: last.valueDigest,
            issuedAt: last.issuedAt,
            expiresAt: last.expiresAt
        )
    }

    private mutating func content(
        _ key: KeyID,
        _ fingerprint: KeyFingerprint,
        _ slot: UInt32?,
        _ record: KeyRecord
    ) -> LedgerTable.Content {
        let id = record.lastRequest.map { PackedID($0.id.utf8.span, &profiles.topics) ?? .other }
        let last = record.lastRequest.map { request in
            LedgerEntry.Last(
                id: id ?? .other,
                valueDigest: request.valueDigest,
                issuedAt: request.issuedAt,
                expiresAt: request.expiresAt
            )
        }
        // The point of a slot that is not odd is the key's own: it is not hashed once more, nor are its texts looked up.
        let known = slot.flatMap { table.oddRecord($0) == nil ? $0 : nil }
        let knownProfile = known.flatMap { profiles.number(of: record, like: table.with($0) { $0.profile }) }
        guard let point = record.publicKey,
            point == known.flatMap({ table.publicKey($0) }) || KeyID(of: point) == key,
            let profile = knownProfile ?? profile(of: record),
            let entry = LedgerEntry(
                fingerprint,
                point,
                nonce: record.nonce,
                last: last,
                registeredAt: record.registeredAt,
                issued: record.issued,
                risk: record.risk,
                counters: record.counters,
                lastUse: record.lastUse,
                profile: profile
            )
        else { return .init(entry: LedgerEntry(odd: fingerprint), odd: record.withoutUnusableKey) }
        return .init(entry: entry, requestID: id?.form == .other ? record.lastRequest?.id : nil)
    }

    private mutating func profile(of record: KeyRecord) -> UInt16? {
        let (apple, category) = (record.appleAppID.utf8, record.validationCategory)
        guard let app = record.app?.utf8 else {
            return profiles.number(app: nil, appleAppID: apple.span, record.environment, category: category)
        }
        return profiles.number(app: app.span, appleAppID: apple.span, record.environment, category: category)
    }
}

extension KeyRecord {
    /// Only the ledger topic keeps bytes that are not a point.
    fileprivate var withoutUnusableKey: KeyRecord {
        var record = self
        record.unusableKey = []
        return record
    }
}
