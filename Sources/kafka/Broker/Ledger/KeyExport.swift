internal import AppAttest
internal import Crypto
internal import Kafka
internal import KafkaPorts
internal import Pipeline
internal import Settings

/// `export-keys`: the ledger topic's keys as a KEYS file.
///
/// Partitions are read one after the other, and their lines are put aside in 256 parts, by the key ID's first byte: the
/// command takes the memory of the largest partition, or of a 256th of all lines.
package struct KeyExport {
    private static let chunkBytes = 1 << 20

    /// The lines of a partition in one part.
    private struct Slice {
        let partition: Int32
        let range: Range<Int>
    }

    /// A line that is put aside, after its key's ID and its length.
    private struct Line {
        static let headBytes = Digest.byteCount + 4
        let id: Digest
        let range: Range<Int>
    }

    /// Why workers judge by none of these keys; nil = nothing is against it.
    package private(set) var misplacement: String?
    /// Bans of keys that have no line.
    private var keyBansLeftOut = 0
    private var installations: Set<Digest> = []
    /// The slices of each first byte. If producers disagree about partitions a key may be on two; each then has its line.
    private var parts = [[Slice]](repeating: [], count: 256)
    private let aside: ScratchFile
    private let hasWindows: Bool

    /// Reads the ledger up to the ends that it has now.
    ///
    /// - Parameters:
    ///   - chosen: the partitions to read; nil = all of them.
    ///   - folder: has room for the lines, where they are too many for memory.
    ///   - progress: called with the number of ledger records read.
    package init(
        _ access: LedgerAccess,
        only chosen: Set<Int32>?,
        folder: String,
        progress: (Int) -> Void
    ) throws {
        let partitions = try access.partitionCount()
        try access.require(chosen, of: partitions)
        (aside, hasWindows) = (ScratchFile(folder: folder), access.hasWindows)
        var (marks, read): ([PartitionMark], Int) = ([], 0)
        for partition in 0..<partitions where chosen?.contains(partition) ?? true {
            var (keys, mark): (StoredKeys, PartitionMark?) = (StoredKeys(), nil)
            try LedgerReader(access, partitions: partitions, only: [partition]).changes { change, record in
                read += 1
                progress(read)
                guard record.partition == partition, let change else { return }
                keys.apply(change)
                if case .mark(let newest) = change { mark = newest }
                if case .markForgotten = change { mark = nil }
            }
            if let mark { keys.removeEnded(access.keys, by: mark) }
            marks += mark.map { [$0] } ?? []
            note(keys)
            try put(keys, of: partition)
        }
        misplacement = KeyPlacement.contradiction(marks.otherPartitions(than: partitions), partitions)
    }

    /// Bans that have no line: of keys that the ledger does not have, and of installations.
    package var bansLeftOut: (keys: Int, installations: Int) { (keyBansLeftOut, installations.count) }

    private mutating func note(_ keys: StoredKeys) {
        guard !keys.bans.isEmpty else { return }
        // An installation's ban is on every partition, or will be.
        for (id, ban) in keys.bans {
            if ban.kind == .key { keyBansLeftOut += 1 } else { installations.insert(id) }
        }
        keyBansLeftOut -= keys.ids.count { keys.ban(of: $0) != nil }
    }

    private mutating func put(_ keys: StoredKeys, of partition: Int32) throws {
        let ids = keys.ids.sorted { $0.digest.words < $1.digest.words }
        var line: [UInt8] = []
        var rest = ids[...]
        for part in parts.indices {
            let (start, own) = (aside.count, rest.prefix { Int($0.digest[0]) == part })
            for id in own {
                guard let record = keys[id] else { continue }
                var key = ImportedKey(id, record, ban: keys.ban(of: id))
                // Versions before windows refuse a line with it.
                if !hasWindows { key.unseenCounters = 0 }
                // The line is built alone first: the writer copies the buffer that it appends to.
                line.removeAll(keepingCapacity: true)
                KeysFile.encode(key, into: &line)
                let length = (0..<4).map { UInt8(truncatingIfNeeded: line.count >> (8 * $0)) }
                try aside.append(id.bytes + length + line)
            }
            rest = rest.dropFirst(own.count)
            if aside.count > start { parts[part].append(Slice(partition: partition, range: start..<aside.count)) }
        }
    }

    /// A line per key, in order of the key IDs' bytes, so that two exports can be compared line by line.
    ///
    /// - Returns: the number of lines.
    package func write(_ deliver: ([UInt8]) throws -> Void) throws -> Int {
        var (count, chunk): (Int, [UInt8]) = (0, [])
        for slices in parts {
            let bytes = try slices.map { try aside.read($0.range) }
            // Slices are in the order of their partitions, and each in that of its keys.
            let lines = bytes.indices.flatMap { slice in Self.lines(of: bytes[slice]).map { (slice, $0) } }
            let sorted = lines.enumerated().sorted { one, other in
                let ids = (one.element.1.id.words, other.element.1.id.words)
                return ids.0 == ids.1 ? one.offset < other.offset : ids.0 < ids.1
            }
            for (_, (slice, line)) in sorted {
                chunk += bytes[slice][line.range]
                guard chunk.count >= Self.chunkBytes else { continue }
                try deliver(chunk)
                chunk.removeAll(keepingCapacity: true)
            }
            count += sorted.count
        }
        if !chunk.isEmpty { try deliver(chunk) }
        return count
    }

    private static func lines(of bytes: [UInt8]) -> [Line] {
        var (lines, place): ([Line], Int) = ([], 0)
        while place < bytes.count {
            let span = bytes.span.extracting(place..<place + Digest.byteCount)
            guard let id = Digest(span) else { preconditionFailure("a line has its key's ID before it") }
            let length = (0..<4).reduce(0) { $0 | Int(bytes[place + Digest.byteCount + $1]) << (8 * $1) }
            let start = place + Line.headBytes
            lines.append(Line(id: id, range: start..<start + length))
            place = start + length
        }
        return lines
    }
}
