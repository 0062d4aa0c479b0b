internal import AppAttest
internal import Crypto
internal import Kafka
internal import KafkaPorts
internal import Pipeline
internal import Settings

/// `export-keys`: the ledger topic's keys as a KEYS file.
package struct KeyExport {
    private static let chunkBytes = 1 << 20

    /// The keys by partition. If producers disagree about partitions a key may be on two; each then has its line.
    private var keys: [StoredKeys]
    private let hasWindows: Bool
    /// Why workers judge by none of these keys; nil = nothing is against it.
    package let misplacement: String?

    /// Reads the ledger up to the ends that it has now.
    ///
    /// - Parameters:
    ///   - chosen: the partitions to read; nil = all of them.
    ///   - progress: called with the number of ledger records read.
    package init(_ access: LedgerAccess, only chosen: Set<Int32>?, progress: (Int) -> Void) throws {
        let partitions = try access.partitionCount()
        try access.require(chosen, of: partitions)
        var keys = [StoredKeys](repeating: StoredKeys(), count: Int(partitions))
        var marks: [Int32: PartitionMark] = [:]
        try LedgerReader(access, partitions: partitions, only: chosen).changes(progress: progress) { change, record in
            switch change {
            case .key(let id, let stored): keys[Int(record.partition)].set(id, stored)
            case .keyForgotten(let id): keys[Int(record.partition)].remove(id)
            case .ban(let id, let ban): keys[Int(record.partition)].set(ban, id)
            case .banLifted(let id): keys[Int(record.partition)].set(nil, id)
            case .mark(let mark): marks[record.partition] = mark
            case .markForgotten: marks[record.partition] = nil
            default: break
            }
        }
        for (partition, mark) in marks { keys[Int(partition)].removeEnded(access.keys, by: mark) }
        (self.keys, hasWindows) = (keys, access.hasWindows)
        misplacement = KeyPlacement.contradiction(marks.values.otherPartitions(than: partitions), partitions)
    }

    /// Bans that have no line: of keys that the ledger does not have, and of installations.
    package var bansLeftOut: (keys: Int, installations: Int) {
        // An installation's ban is on every partition, or will be.
        var (lined, keyBans, installations) = (0, 0, Set<Digest>())
        for partition in keys where !partition.bans.isEmpty {
            lined += partition.ids.count { partition.ban(of: $0) != nil }
            for (id, ban) in partition.bans {
                if ban.kind == .key { keyBans += 1 } else { installations.insert(id) }
            }
        }
        return (keyBans - lined, installations.count)
    }

    /// A line per key, in order of the key IDs' bytes, so that two exports can be compared line by line.
    ///
    /// - Returns: the number of lines.
    package func write(_ deliver: ([UInt8]) throws -> Void) throws -> Int {
        var places: [(id: KeyID, partition: Int)] = []
        places.reserveCapacity(keys.reduce(0) { $0 + $1.count })
        for partition in keys.indices { places += keys[partition].ids.map { ($0, partition) } }
        places.sort { left, right in
            left.id == right.id ? left.partition < right.partition : left.id.digest.words < right.id.digest.words
        }
        var (line, chunk): ([UInt8], [UInt8]) = ([], [])
        for place in places {
            guard let record = keys[place.partition][place.id] else { continue }
            // The line is built alone first: the writer copies the buffer that it appends to.
            line.removeAll(keepingCapacity: true)
            var key = ImportedKey(place.id, record, ban: keys[place.partition].ban(of: place.id))
            // Versions before windows refuse a line with it.
            if !hasWindows { key.unseenCounters = 0 }
            KeysFile.encode(key, into: &line)
            chunk += line
            guard chunk.count >= Self.chunkBytes else { continue }
            try deliver(chunk)
            chunk.removeAll(keepingCapacity: true)
        }
        if !chunk.isEmpty { try deliver(chunk) }
        return places.count
    }
}
