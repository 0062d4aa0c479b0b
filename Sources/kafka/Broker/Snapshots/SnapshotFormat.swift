internal import Compression
internal import Crypto
package import KafkaPorts
package import Pipeline
internal import Streams

/// A file with the ledger of one partition, as records of the ledger topic: what reads the topic reads the file.
///
/// Integers are big-endian. A head: "AWSNAP", the layout (2 bytes: 1, and the revision of records), the home (8: SHA-256 of cluster id, 00 and topic), the
/// offset of the newest mark (8), its identity (16), the time of the copy (8, ms), CRC-32 of all that (4). Blocks: the number
/// of records (4), the length of what follows (4), the records (each: length of the key, 2, and of the value, 4, both bytes),
/// CRC-32 of all that (4). The last block has no records, and its 8 bytes are the number of all.
package enum SnapshotFormat {
    package static let magic = Array("AWSNAP".utf8)
    /// The layout of the file, and that of the records: what a version ignores in a record its files lack.
    static let layout = 1 << 8 | LedgerCodec.revision
    package static let headBytes = 6 + 2 + 8 + 8 + 16 + 8 + 4
    static let blockHeadBytes = 8
    static let blockRecords = 2_048
    /// More than the records of a block can have; a length beyond it is damage.
    static let mostBlockBytes = 64 << 20

    package struct Head: Equatable, Sendable {
        package var home: [UInt8]
        package var from: Int64
        package var identity: [UInt8]
        package var takenAt: Int64

        package init(home: [UInt8], from: Int64, identity: [UInt8], takenAt: Int64) {
            (self.home, self.from, self.identity, self.takenAt) = (home, from, identity, takenAt)
        }
    }

    package static func home(cluster: String, topic: String) -> [UInt8] {
        Array(SHA256.hash(Array(cluster.utf8) + [0] + Array(topic.utf8)).bytes.prefix(8))
    }

    // MARK: Writing

    /// Hands the whole file to `put`, piece by piece.
    package static func write(_ copy: LedgerCopy, _ head: Head, put: ([UInt8]) throws -> Void) throws {
        precondition(head.home.count == 8 && head.identity.count == 16, "a head has its fields")
        let fields = magic + number(layout, 2) + head.home + number(UInt64(head.from), 8) + head.identity
        try put(summed(fields + number(UInt64(max(0, head.takenAt)), 8)))
        var (block, count, all): ([UInt8], UInt64, UInt64) = ([], 0, 0)
        func finish() throws {
            try put(summed(number(count, 4) + number(UInt64(block.count), 4) + block))
            (all, count) = (all + count, 0)
            block.removeAll(keepingCapacity: true)
        }
        try copy.forEach { change in
            let (key, value) = LedgerCodec.encode(change)
            let bytes = value ?? []
            block += number(UInt64(key.count), 2) + number(UInt64(bytes.count), 4) + key + bytes
            count += 1
            if count == UInt64(blockRecords) { try finish() }
        }
        if count > 0 { try finish() }
        block = number(all, 8)
        try finish()
    }

    private static func summed(_ bytes: [UInt8]) -> [UInt8] { bytes + number(UInt64(CRC32.of(bytes)), 4) }

    private static func number(_ value: UInt64, _ bytes: Int) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }

    // MARK: Reading

    /// - Returns: nil for other bytes than a head of this layout.
    package static func head(_ bytes: [UInt8]) -> Head? {
        guard bytes.count == headBytes, isSummed(bytes[...]), bytes.starts(with: magic), value(bytes[6..<8]) == layout,
            let from = Int64(exactly: value(bytes[16..<24])), let takenAt = Int64(exactly: value(bytes[40..<48]))
        else { return nil }
        return Head(home: Array(bytes[8..<16]), from: from, identity: Array(bytes[24..<40]), takenAt: takenAt)
    }

    private static func isSummed(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count > 4 && UInt64(CRC32.of(bytes.dropLast(4))) == value(bytes.suffix(4))
    }

    fileprivate static func value(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// Reads the blocks of a file, in their order.
package struct SnapshotBlocks {
    private struct Damage: Error { let reason: String }

    private let partition: Int32
    private let read: (_ bytes: Int) throws -> [UInt8]
    private var count: UInt64 = 0
    private var hasEnded = false

    /// - Parameter read: gives the next bytes of the file, fewer only at its end.
    package init(of partition: Int32, _ read: @escaping (_ bytes: Int) throws -> [UInt8]) {
        (self.partition, self.read) = (partition, read)
    }

    package mutating func next() -> LedgerFilePart {
        if hasEnded { return .end }
        do { return try block() } catch let damage as Damage { return .damaged(damage.reason) } catch {
            return .damaged("\(error)")
        }
    }

    private mutating func block() throws -> LedgerFilePart {
        let head = try exactly(SnapshotFormat.blockHeadBytes)
        let (records, length) = (SnapshotFormat.value(head[0..<4]), SnapshotFormat.value(head[4..<8]))
        guard length <= UInt64(SnapshotFormat.mostBlockBytes) else { throw Damage(reason: "a block is too long") }
        let body = try exactly(Int(length) + 4)
        let sum = CRC32.of(body.dropLast(4), after: CRC32.of(head))
        guard UInt64(sum) == SnapshotFormat.value(body.suffix(4)) else { throw Damage(reason: "a block is damaged") }
        guard records > 0 else {
            guard length == 8, SnapshotFormat.value(body.prefix(8)) == count else {
                throw Damage(reason: "records are missing")
            }
            hasEnded = true
            return .end
        }
        count += records
        return .records(try Self.records(records, body, partition))
    }

    private func exactly(_ count: Int) throws -> [UInt8] {
        let bytes = try read(count)
        guard bytes.count == count else { throw Damage(reason: "it ends too early") }
        return bytes
    }

    /// - Parameter body: the records, and their sum after them.
    private static func records(
        _ count: UInt64,
        _ body: [UInt8],
        _ partition: Int32
    ) throws -> StoredRecords {
        let end = body.count - 4
        var (places, place): ([StoredRecords.Place], Int) = ([], 0)
        places.reserveCapacity(min(Int(clamping: count), end / 6))
        while place < end {
            guard end - place >= 6 else { throw Damage(reason: "a record is cut") }
            let key = Int(body[place]) << 8 | Int(body[place + 1])
            let value = (2..<6).reduce(0) { $0 << 8 | Int(body[place + $1]) }
            guard end - place - 6 >= key + value else { throw Damage(reason: "a record is cut") }
            places.append(.init(partition: partition, start: place + 6, keyBytes: key, valueBytes: value))
            place += 6 + key + value
        }
        guard UInt64(places.count) == count else { throw Damage(reason: "a block has other records than it says") }
        return StoredRecords(bytes: body, places: places)
    }
}
