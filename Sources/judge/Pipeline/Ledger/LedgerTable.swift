internal import AppAttest
internal import Crypto

/// Entries in blocks of 1,024, found through a sharded index, so that it grows without a spike. The slot of a key that is
/// removed is used again.
///
/// A record that does not fit into an entry is odd: an imported key without a point of its own, a time or serial number out
/// of range. Its entry keeps the tag, and the record lies beside the table. So does the last request's ID, and it alone, if
/// it has a form that ``PackedID`` does not know.
struct LedgerTable {
    /// The content of a slot.
    struct Content {
        var entry: LedgerEntry
        /// The ID of the last request, if it is of the form ``PackedID/Form/other``.
        var requestID: ExactText?
        /// The record of an odd entry.
        var odd: KeyRecord?
    }

    private static let blockCount = 1024
    private var blocks: [[LedgerEntry]] = []
    private(set) var index = SlotIndex()
    private var free: [UInt32] = []
    private var odd: [UInt32: (key: KeyID, record: KeyRecord)] = [:]
    /// The IDs that lie beside the entries, in 256 parts, so that no change copies all of them.
    private var requestIDs = [[UInt32: ExactText]](repeating: [:], count: 256)
    private var requestIDCount = 0
    /// Slots in use, free ones included.
    private var slots = 0

    var count: Int { slots - free.count }
    var oddCount: Int { odd.count }

    @inline(__always)
    private static func split(_ slot: UInt32) -> (Int, Int) { (Int(slot) / blockCount, Int(slot) % blockCount) }

    /// Fields are read in place: a copy of a whole entry costs more than the search.
    @inline(__always)
    private func head(_ slot: UInt32) -> UInt64 {
        let (block, place) = Self.split(slot)
        return blocks[block][place].head
    }

    func find(_ key: KeyID) -> UInt32? { find(key, KeyFingerprint(key)) }

    @inline(__always)
    func find(_ key: KeyID, _ fingerprint: KeyFingerprint) -> UInt32? {
        index.find(fingerprint) { slot in
            let head = head(slot)
            guard LedgerEntry.tag(head) == fingerprint.tag else { return false }
            return !LedgerEntry.flags(head).contains(.odd) || odd[slot]?.key == key
        }
    }

    /// The record of an odd slot; nil = it is in the entry.
    func oddRecord(_ slot: UInt32) -> KeyRecord? {
        LedgerEntry.flags(head(slot)).contains(.odd) ? odd[slot]?.record : nil
    }

    /// The point of a slot that is not odd.
    @inline(__always)
    func publicKey(_ slot: UInt32) -> P256PublicKey {
        let (block, place) = Self.split(slot)
        return P256PublicKey(uncheckedX: blocks[block][place].x, y: blocks[block][place].y)
    }

    /// The entry of a slot that is not odd.
    @inline(__always)
    func with<Result>(_ slot: UInt32, _ body: (borrowing LedgerEntry) -> Result) -> Result {
        let (block, place) = Self.split(slot)
        return body(blocks[block][place])
    }

    /// The ID of a slot's last request, if it lies beside the table.
    func requestID(_ slot: UInt32) -> ExactText? { requestIDs[Int(slot & 255)][slot] }

    /// - Parameter key: is not in the table.
    mutating func insert(_ key: KeyID, _ fingerprint: KeyFingerprint, _ content: Content) -> UInt32 {
        let slot = free.popLast()
        if let slot { replace(slot, key, content) }
        let place = slot ?? append(key, content)
        index.insert(fingerprint, slot: place)
        return place
    }

    private mutating func append(_ key: KeyID, _ content: Content) -> UInt32 {
        precondition(slots < Int(UInt32.max) - 1, "a ledger holds at most 2^32 − 2 keys")
        let (block, _) = Self.split(UInt32(slots))
        if block == blocks.count {
            blocks.append([])
            blocks[block].reserveCapacity(Self.blockCount)
        }
        blocks[block].append(content.entry)
        slots += 1
        setBeside(UInt32(slots - 1), content.odd.map { (key, $0) }, content.requestID)
        return UInt32(slots - 1)
    }

    mutating func replace(_ slot: UInt32, _ key: KeyID, _ content: Content) {
        let (block, place) = Self.split(slot)
        blocks[block][place] = content.entry
        setBeside(slot, content.odd.map { (key, $0) }, content.requestID)
    }

    private mutating func setBeside(_ slot: UInt32, _ record: (KeyID, KeyRecord)?, _ requestID: ExactText?) {
        if record != nil || !odd.isEmpty { odd[slot] = record }
        guard requestID != nil || requestIDCount > 0 else { return }
        let before = requestIDs[Int(slot & 255)].removeValue(forKey: slot)
        requestIDs[Int(slot & 255)][slot] = requestID
        requestIDCount += (requestID == nil ? 0 : 1) - (before == nil ? 0 : 1)
    }

    /// - Returns: the slot that is free now; nil = there was no such key.
    mutating func remove(_ key: KeyID) -> UInt32? {
        let fingerprint = KeyFingerprint(key)
        guard let slot = find(key, fingerprint) else { return nil }
        let (block, place) = Self.split(slot)
        blocks[block][place].setFree()
        setBeside(slot, nil, nil)
        index.remove(fingerprint, slot: slot)
        free.append(slot)
        return slot
    }

    /// The slot after the last one.
    var end: UInt32 { UInt32(slots) }

    /// Every key of some slots, and its slot. A key that is asked for is hashed.
    func forEach(in range: Range<UInt32>, _ body: (() -> KeyID, UInt32) throws -> Void) rethrows {
        for slot in range {
            let flags = LedgerEntry.flags(head(slot))
            if flags.contains(.free) { continue }
            if flags.contains(.odd) {
                if let key = odd[slot]?.key { try body({ key }, slot) }
            } else {
                try body({ KeyID(of: publicKey(slot)) }, slot)
            }
        }
    }
}
