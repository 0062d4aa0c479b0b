package import AppAttest
internal import Crypto

/// The records of keys that a batch has changed, in the order of their first change.
package struct KeyChanges: Sendable {
    private struct Entry {
        let key: KeyID
        /// nil = forgotten.
        var record: KeyRecord?
        /// Whether the state from before the batch is forgotten, whatever came after that.
        var isForgottenFirst = false
    }

    /// Records lie in chunks, so that growth moves none.
    private static let chunkCount = 32

    private var chunks: [[Entry]] = []
    /// Open addressing: a record's number + 1; 0 = free. The count is a power of two.
    private var places: [UInt32] = []
    package private(set) var count = 0

    /// nil = unchanged; nil in it = forgotten. Mutating like ``KeyLedger/lookup(_:)``.
    mutating func record(_ key: KeyID) -> KeyRecord?? {
        guard let number = number(of: key) else { return nil }
        return .some(chunks[number / Self.chunkCount][number % Self.chunkCount].record)
    }

    package mutating func set(_ key: KeyID, _ record: consuming KeyRecord) {
        guard let number = number(of: key) else { return add(Entry(key: key, record: consume record)) }
        chunks[number / Self.chunkCount][number % Self.chunkCount].record = consume record
    }

    package mutating func forget(_ key: KeyID) {
        let forgotten = Entry(key: key, record: nil, isForgottenFirst: true)
        guard let number = number(of: key) else { return add(forgotten) }
        chunks[number / Self.chunkCount][number % Self.chunkCount] = forgotten
    }

    private mutating func add(_ entry: consuming Entry) {
        if 2 * (count + 1) > places.count { grow() }
        put(count, of: entry.key)
        if count % Self.chunkCount == 0 {
            chunks.append([])
            chunks[chunks.count - 1].reserveCapacity(Self.chunkCount)
        }
        chunks[chunks.count - 1].append(entry)
        count += 1
    }

    package func forEach(_ body: (KeyID, KeyRecord?, _ isForgottenFirst: Bool) -> Void) {
        for chunk in chunks {
            let entries = chunk.span
            for index in entries.indices {
                body(entries[index].key, entries[index].record, entries[index].isForgottenFirst)
            }
        }
    }

    /// The records for the ledger topic.
    func eachChange(_ body: (consuming LedgerChange) -> Void) {
        for chunk in chunks {
            let entries = chunk.span
            for index in entries.indices {
                // Also before a new record: a restore never lowers a counter but by way of a tombstone.
                if entries[index].isForgottenFirst { body(.keyForgotten(entries[index].key)) }
                if let record = entries[index].record { body(.key(entries[index].key, record)) }
            }
        }
    }

    /// A key ID is a SHA-256 digest: its own bytes are the hash.
    private func first(_ key: KeyID) -> Int { Int(truncatingIfNeeded: key.digest.words.1) & (places.count - 1) }

    private func number(of key: KeyID) -> Int? {
        guard !places.isEmpty else { return nil }
        var place = first(key)
        while places[place] != 0 {
            let number = Int(places[place]) - 1
            if chunks[number / Self.chunkCount][number % Self.chunkCount].key == key { return number }
            place = (place + 1) & (places.count - 1)
        }
        return nil
    }

    private mutating func put(_ number: Int, of key: KeyID) {
        var place = first(key)
        while places[place] != 0 { place = (place + 1) & (places.count - 1) }
        places[place] = UInt32(number + 1)
    }

    private mutating func grow() {
        places = [UInt32](repeating: 0, count: max(64, 4 * places.count))
        for number in 0..<count { put(number, of: chunks[number / Self.chunkCount][number % Self.chunkCount].key) }
    }
}
