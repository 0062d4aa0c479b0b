package import AppAttest
package import Crypto

/// The keys of one partition (in replay: of all), with their counters. Owned by the loop.
///
/// About 260 bytes per key: entries lie in segments of 1,024, found through a sharded index, so it grows without a spike.
package struct KeyLedger: Sendable {
    /// The result of looking up a key, as Resolve needs it.
    package enum Lookup: Sendable, Equatable {
        case unknown
        /// Imported with bytes that are no point.
        case unusable
        case key(P256PublicKey)
    }

    private static let segmentCount = 1024
    private var segments: [[LedgerEntry]] = []
    private var index = SlotIndex()
    private var longIDs: [UInt32: ExactText] = [:]
    private var apps = Interner()
    private var appleAppIDs = Interner()
    /// Slots in use, forgotten keys' included.
    private var slots = 0
    package private(set) var count = 0

    package init() {}

    package func lookup(_ key: KeyID) -> Lookup {
        guard let slot = find(key) else { return .unknown }
        let (segment, place) = Self.split(slot)
        guard segments[segment][place].flags.contains(.usableKey) else { return .unusable }
        return .key(P256PublicKey(uncheckedX: segments[segment][place].x, y: segments[segment][place].y))
    }

    package subscript(key: KeyID) -> KeyRecord? { find(key).map { record(at: $0) } }

    /// For judging a request: the last request is left out unless its value had this digest. With any other the request
    /// is no duplicate, whatever its id, which need not be unpacked.
    func record(_ key: KeyID, forRequestOf digest: Digest) -> KeyRecord? {
        guard let slot = find(key) else { return nil }
        let (segment, place) = Self.split(slot)
        return record(at: slot, withLast: segments[segment][place].valueDigest == digest)
    }

    /// - Parameter unlessLower: a present record with a higher counter stays.
    package mutating func set(_ key: KeyID, _ record: KeyRecord, unlessLower: Bool = false) {
        let slot = slot(of: key) ?? UInt32(slots)
        let entry = pack(key, record, slot: slot)
        let (segment, place) = Self.split(slot)
        if Int(slot) < slots {
            let isForgotten = segments[segment][place].flags.contains(.forgotten)
            if unlessLower, !isForgotten, segments[segment][place].counter > entry.counter { return }
            if isForgotten { count += 1 }
            segments[segment][place] = entry
            return
        }
        precondition(slots < Int(UInt32.max) - 1, "a ledger holds at most 2^32 − 2 keys")
        if segment == segments.count {
            segments.append([])
            segments[segment].reserveCapacity(Self.segmentCount)
        }
        segments[segment].append(entry)
        index.insert(key, slot: slot) { slot in
            let (segment, place) = Self.split(slot)
            return segments[segment][place].keyID
        }
        slots += 1
        count += 1
    }

    package mutating func remove(_ key: KeyID) {
        guard let slot = find(key) else { return }
        let (segment, place) = Self.split(slot)
        segments[segment][place].forget()
        longIDs[slot] = nil
        count -= 1
    }

    /// Every key with its record, in order of first insertion.
    package func forEach(_ body: (KeyID, KeyRecord) throws -> Void) rethrows {
        for slot in 0..<UInt32(slots) {
            let (segment, place) = Self.split(slot)
            if segments[segment][place].flags.contains(.forgotten) { continue }
            try body(segments[segment][place].keyID, record(at: slot))
        }
    }

    private static func split(_ slot: UInt32) -> (Int, Int) { (Int(slot) / segmentCount, Int(slot) % segmentCount) }

    private func find(_ key: KeyID) -> UInt32? {
        guard let slot = slot(of: key) else { return nil }
        let (segment, place) = Self.split(slot)
        return segments[segment][place].flags.contains(.forgotten) ? nil : slot
    }

    private func slot(of key: KeyID) -> UInt32? {
        index.find(key) { slot in
            let (segment, place) = Self.split(slot)
            return segments[segment][place].keyID == key
        }
    }
}

extension KeyLedger {
    private func record(at slot: UInt32, withLast: Bool = true) -> KeyRecord {
        let (segment, place) = Self.split(slot)
        let entry = segments[segment][place]
        let key = entry.flags.contains(.usableKey) ? P256PublicKey(uncheckedX: entry.x, y: entry.y) : nil
        return KeyRecord(
            publicKey: key,
            counter: entry.counter,
            app: apps.text(entry.app),
            appleAppID: appleAppIDs.text(entry.appleAppID) ?? "",
            environment: entry.flags.contains(.production) ? .production : .development,
            validationCategory: entry.flags.contains(.category) ? entry.category : nil,
            registeredAt: EvaluationTime(milliseconds: entry.registeredAt),
            nonce: entry.flags.contains(.nonce) ? entry.nonce : nil,
            issued: issued(of: entry),
            lastRequest: withLast ? lastRequest(of: entry, slot: slot) : nil
        )
    }

    private func issued(of entry: LedgerEntry) -> IssueTime? {
        guard entry.flags.contains(.issued) else { return nil }
        return IssueTime(notBefore: EvaluationTime(milliseconds: entry.issued.0), serial: entry.issued.1)
    }

    private func lastRequest(of entry: LedgerEntry, slot: UInt32) -> LastRequest? {
        guard entry.flags.contains(.lastRequest) else { return nil }
        let id = entry.flags.contains(.longID) ? longIDs[slot] : ExactText(validating: entry.inlineID)
        return LastRequest(
            id: id ?? "",
            valueDigest: entry.valueDigest,
            issuedAt: entry.tokenTimes.0,
            expiresAt: entry.tokenTimes.1
        )
    }

    private mutating func pack(_ key: KeyID, _ record: KeyRecord, slot: UInt32) -> LedgerEntry {
        var flags: LedgerEntry.Flags = []
        if record.publicKey != nil { flags.insert(.usableKey) }
        if record.environment == .production { flags.insert(.production) }
        if record.nonce != nil { flags.insert(.nonce) }
        if record.issued != nil { flags.insert(.issued) }
        if record.validationCategory != nil { flags.insert(.category) }
        // As no id is packed.
        var packedID: (UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0)
        if !longIDs.isEmpty { longIDs[slot] = nil }
        if let last = record.lastRequest {
            flags.insert(.lastRequest)
            let utf8 = last.id.utf8
            if utf8.count <= LedgerEntry.inlineIDBytes {
                packedID = LedgerEntry.pack(utf8)
            } else {
                flags.insert(.longID)
                longIDs[slot] = last.id
            }
        }
        guard let apple = appleAppIDs.number(of: record.appleAppID),
            let app = record.app.map({ apps.number(of: $0) }) ?? 0
        else { preconditionFailure("more than 16 million different apps in one ledger") }
        return LedgerEntry(
            keyID: key,
            x: record.publicKey?.x ?? key.digest,
            y: record.publicKey?.y ?? key.digest,
            nonce: record.nonce ?? key.digest,
            valueDigest: record.lastRequest?.valueDigest ?? key.digest,
            requestID: packedID,
            registeredAt: record.registeredAt.milliseconds,
            issued: (record.issued?.notBefore.milliseconds ?? 0, record.issued?.serial ?? 0),
            tokenTimes: (record.lastRequest?.issuedAt ?? 0, record.lastRequest?.expiresAt ?? 0),
            counter: record.counter,
            category: record.validationCategory ?? 0,
            app: app,
            appleAppID: apple,
            flags: flags
        )
    }
}
