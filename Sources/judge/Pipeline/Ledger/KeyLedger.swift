package import AppAttest
package import Crypto

/// The keys of one partition (in replay: of all), with their counters. Owned by the loop.
///
/// About 270 bytes per key, second points apart: entries lie in segments of 1,024, found through a sharded index, so it
/// grows without a spike.
package struct KeyLedger: Sendable {
    /// The result of looking up a key, as Resolve needs it.
    package enum Lookup: Sendable, Equatable {
        case unknown
        /// Imported with bytes that are not a point.
        case unusable
        /// The key, with its second point if the ledger has kept one.
        case key(P256PublicKey, second: P256SecondPoint? = nil)
    }

    private static let segmentCount = 1024
    private var segments: [[LedgerEntry]] = []
    private var index = SlotIndex()
    private var longIDs: [UInt32: ExactText] = [:]
    /// The bits of ``KeyCounters/skipped`` where one is set: few keys have some, and none without a window.
    private var skipped: [UInt32: UInt64] = [:]
    var secondPoints = SecondPoints()
    private var apps = Interner()
    private var appleAppIDs = Interner()
    /// Slots in use, forgotten keys' included.
    private var slots = 0
    package private(set) var count = 0

    package init() {}

    /// Changes nothing; mutating, so that it works in place: a ledger that is only read is copied, with all its counts.
    package mutating func lookup(_ key: KeyID) -> Lookup {
        guard let slot = find(key) else { return .unknown }
        guard let key = publicKey(at: slot) else { return .unusable }
        // A point is kept only while its key is: see ``setSecond(_:of:publicKey:)``.
        return .key(key, second: secondPoints.isEmpty ? nil : secondPoints[slot])
    }

    package subscript(key: KeyID) -> KeyRecord? { find(key).map { record(at: $0) } }

    /// The record for judging a request: the last request is left out unless its value had this digest. With any other
    /// the request is not a duplicate, whatever its id, which need not be unpacked. Mutating like ``lookup(_:)``.
    package mutating func record(_ key: KeyID, forRequestOf digest: Digest) -> KeyRecord? {
        guard let slot = find(key) else { return nil }
        let (segment, place) = Self.split(slot)
        // Here and not by a method of the ledger, which would copy it.
        let entry = segments[segment][place]
        let longID = entry.flags.contains(.longID) ? longIDs[slot] : nil
        var record = KeyRecord(
            entry,
            app: apps.text(entry.app),
            appleAppID: appleAppIDs.text(entry.appleAppID),
            last: entry.valueDigest == digest ? LastRequest(entry, longID: longID) : nil
        )
        if !skipped.isEmpty { record.skipped = skipped[slot] ?? 0 }
        return record
    }

    /// - Parameter unlessLower: a present record with a higher counter stays, and counters that either record has used
    ///   are used.
    package mutating func set(_ key: KeyID, _ record: KeyRecord, unlessLower: Bool = false) {
        let entry = pack(key, record)
        let id = record.lastRequest?.id
        let longID = entry.flags.contains(.longID) ? id : nil
        put(entry, longID: longID, skipped: record.skipped, unlessLower: unlessLower)
    }

    /// Sets a record from the bytes that ``LedgerCodec`` writes; a present one with a higher counter stays.
    ///
    /// - Parameter value: where the record's value lies in `bytes`.
    /// - Returns: false, and nothing is set, for bytes of any other form: the general decoder reads those.
    mutating func setPlain(_ key: KeyID, _ bytes: Span<UInt8>, in value: Range<Int>) -> Bool {
        guard let record = PlainKeyRecord(bytes, in: value),
            let apple = appleAppIDs.number(of: bytes.extracting(record.appleAppID))
        else { return false }
        var app: UInt32 = 0
        if let name = record.app {
            guard let number = apps.number(of: bytes.extracting(name)) else { return false }
            app = number
        }
        let entry = LedgerEntry(key, record, app: app, appleAppID: apple)
        put(entry, longID: nil, skipped: record.skipped, unlessLower: true)
        return true
    }

    private mutating func put(_ entry: LedgerEntry, longID: ExactText?, skipped bits: UInt64, unlessLower: Bool) {
        guard let slot = slot(of: entry.keyID) else { return add(entry, longID: longID, skipped: bits) }
        let (segment, place) = Self.split(slot)
        let isForgotten = segments[segment][place].flags.contains(.forgotten)
        let isJoined = unlessLower && !isForgotten
        let present = segments[segment][place].counter
        setSkipped(slot, isJoined ? joined(bits, of: entry.counter, at: slot, present) : bits)
        if isJoined, present > entry.counter { return }
        var entry = entry
        if isJoined, present == entry.counter { entry.unseen = max(entry.unseen, segments[segment][place].unseen) }
        if isForgotten { count += 1 }
        if longID != nil || !longIDs.isEmpty { longIDs[slot] = longID }
        if !secondPoints.isEmpty, publicKey(at: slot) != entry.publicKey { secondPoints.remove(slot) }
        segments[segment][place] = entry
    }

    private func joined(_ bits: UInt64, of counter: UInt32, at slot: UInt32, _ present: UInt32) -> UInt64 {
        if bits == 0, skipped.isEmpty { return 0 }
        let known = KeyCounters(highest: present, skipped: skipped[slot] ?? 0)
        return known.joined(KeyCounters(highest: counter, skipped: bits)).skipped
    }

    private mutating func setSkipped(_ slot: UInt32, _ bits: UInt64) {
        if bits != 0 { skipped[slot] = bits } else if !skipped.isEmpty { skipped[slot] = nil }
    }

    private mutating func add(_ entry: LedgerEntry, longID: ExactText?, skipped bits: UInt64) {
        precondition(slots < Int(UInt32.max) - 1, "a ledger holds at most 2^32 − 2 keys")
        let slot = UInt32(slots)
        let (segment, _) = Self.split(slot)
        if segment == segments.count {
            segments.append([])
            segments[segment].reserveCapacity(Self.segmentCount)
        }
        segments[segment].append(entry)
        index.insert(entry.keyID, slot: slot)
        if let longID { longIDs[slot] = longID }
        setSkipped(slot, bits)
        slots += 1
        count += 1
    }

    package mutating func remove(_ key: KeyID) {
        guard let slot = find(key) else { return }
        let (segment, place) = Self.split(slot)
        segments[segment][place].forget()
        longIDs[slot] = nil
        setSkipped(slot, 0)
        secondPoints.remove(slot)
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

    func publicKey(at slot: UInt32) -> P256PublicKey? {
        let (segment, place) = Self.split(slot)
        return segments[segment][place].publicKey
    }

    private static func split(_ slot: UInt32) -> (Int, Int) { (Int(slot) / segmentCount, Int(slot) % segmentCount) }

    func find(_ key: KeyID) -> UInt32? {
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
    private func record(at slot: UInt32) -> KeyRecord {
        let (segment, place) = Self.split(slot)
        let entry = segments[segment][place]
        var record = KeyRecord(
            entry,
            app: apps.text(entry.app),
            appleAppID: appleAppIDs.text(entry.appleAppID),
            last: LastRequest(entry, longID: entry.flags.contains(.longID) ? longIDs[slot] : nil)
        )
        record.skipped = skipped[slot] ?? 0
        return record
    }

    private mutating func pack(_ key: KeyID, _ record: KeyRecord) -> LedgerEntry {
        var flags: LedgerEntry.Flags = []
        if record.publicKey != nil { flags.insert(.usableKey) }
        if record.environment == .production { flags.insert(.production) }
        if record.nonce != nil { flags.insert(.nonce) }
        if record.issued != nil { flags.insert(.issued) }
        if record.validationCategory != nil { flags.insert(.category) }
        // As no id is packed.
        var packedID: LedgerEntry.InlineID = (0, 0, 0, 0, 0)
        if let last = record.lastRequest {
            flags.insert(.lastRequest)
            let utf8 = last.id.utf8
            if utf8.count <= LedgerEntry.inlineIDBytes {
                packedID = LedgerEntry.pack(utf8.span)
            } else {
                flags.insert(.longID)
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
            risk: record.risk,
            counter: record.counter,
            unseen: record.unseen,
            category: record.validationCategory ?? 0,
            app: app,
            appleAppID: apple,
            flags: flags
        )
    }
}

extension KeyRecord {
    fileprivate init(_ entry: LedgerEntry, app: String?, appleAppID: String?, last: LastRequest?) {
        self.init(
            publicKey: entry.publicKey,
            counter: entry.counter,
            app: app,
            appleAppID: appleAppID ?? "",
            environment: entry.flags.contains(.production) ? .production : .development,
            validationCategory: entry.flags.contains(.category) ? entry.category : nil,
            registeredAt: EvaluationTime(milliseconds: entry.registeredAt),
            nonce: entry.flags.contains(.nonce) ? entry.nonce : nil,
            issued: entry.flags.contains(.issued)
                ? IssueTime(notBefore: EvaluationTime(milliseconds: entry.issued.0), serial: entry.issued.1) : nil,
            lastRequest: last,
            risk: entry.risk
        )
        unseen = entry.unseen
    }
}

extension LastRequest {
    /// - Parameter longID: for an entry whose id does not fit in it.
    fileprivate init?(_ entry: LedgerEntry, longID: ExactText?) {
        guard entry.flags.contains(.lastRequest) else { return nil }
        let id = entry.flags.contains(.longID) ? longID : ExactText(validating: entry.inlineID)
        self.init(
            id: id ?? "",
            valueDigest: entry.valueDigest,
            issuedAt: entry.tokenTimes.0,
            expiresAt: entry.tokenTimes.1
        )
    }
}
