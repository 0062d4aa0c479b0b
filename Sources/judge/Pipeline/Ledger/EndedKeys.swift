package import AppAttest

/// The keys of some slots of a partition's ledger that have ended.
package struct EndedKeys: Sendable, Equatable {
    /// A pass over all slots of a partition, a part of them after each batch.
    struct Pass: Sendable, Equatable {
        /// The next slot.
        var cursor: UInt32 = 0
        /// Ended keys that this pass has left in memory.
        var left = 0
        /// The same of the pass before.
        var leftBefore = 0
    }

    /// The keys to be forgotten with the batch, and the apps that they were bound to.
    package internal(set) var keys: [(id: KeyID, app: String?)] = []
    var pass = Pass()

    package static func == (one: EndedKeys, other: EndedKeys) -> Bool {
        one.pass == other.pass && one.keys.elementsEqual(other.keys) { $0.id == $1.id && $0.app == $1.app }
    }
}

extension KeyLedger {
    /// Slots that are looked at for each record of a batch, and at most for all of them.
    private static let (slotsOfRecord, mostSlots) = (64, 1024)

    /// `iat` of the key's last token; 0 = there is none.
    func lastIssue(of key: KeyID) -> UInt32 { find(key).map { uses(at: $0).issuedAt } ?? 0 }

    func uses(at slot: UInt32) -> (lastUse: UInt32, issuedAt: UInt32) {
        if let odd = table.oddRecord(slot) { return (odd.lastUse, odd.lastRequest?.issuedAt ?? 0) }
        return table.with(slot) { ($0.lastUse, $0.issuedAt) }
    }

    /// Looks at the next slots for keys that have ended.
    ///
    /// - Parameters:
    ///   - records: of the batch.
    ///   - least: so many keys may be forgotten, or a quarter of the records.
    ///   - hasEnded: by a key's uses.
    ///   - isChanged: whether the batch has changed the key's record: it is no longer the ledger's.
    func ended(
        after pass: EndedKeys.Pass,
        records: Int,
        least: Int,
        _ hasEnded: (_ lastUse: UInt32, _ issuedAt: UInt32) -> Bool,
        isChanged: (KeyID) -> Bool
    ) -> EndedKeys {
        var found = EndedKeys(pass: pass)
        let limit = max(least, records / 4)
        let last = min(pass.cursor + UInt32(min(Self.mostSlots, Self.slotsOfRecord * records)), table.end)
        table.forEach(in: pass.cursor..<max(pass.cursor, last)) { key, slot in
            let uses = uses(at: slot)
            guard hasEnded(uses.lastUse, uses.issuedAt) else { return }
            guard found.keys.count < limit else { return found.pass.left += 1 }
            let id = key()
            // A record with the point of another key must not take that one away.
            if find(id) == slot, !isChanged(id) { found.keys.append((id, app(at: slot))) }
        }
        found.pass.cursor = last
        guard last >= table.end else { return found }
        (found.pass.cursor, found.pass.leftBefore, found.pass.left) = (0, found.pass.left, 0)
        return found
    }

    private func app(at slot: UInt32) -> String? {
        if let odd = table.oddRecord(slot) { return odd.app }
        return profiles.names(table.with(slot) { $0.profile }).app
    }
}
