/// Records of the ledger topic as they are read back, their bytes one after the other: a record costs no allocation.
package struct StoredRecords: Sendable, Equatable {
    /// The place of a record in ``StoredRecords/bytes``.
    package struct Place: Sendable, Equatable {
        package let partition: Int32
        private let start: Int
        private let keyBytes: Int32
        /// −1: there is no value, a tombstone.
        private let valueBytes: Int32

        package var key: Range<Int> { start..<start + Int(keyBytes) }
        /// nil for a tombstone.
        package var value: Range<Int>? { valueBytes < 0 ? nil : key.upperBound..<key.upperBound + Int(valueBytes) }

        /// - Parameters:
        ///   - start: where the key begins; the value follows it.
        ///   - valueBytes: nil for a tombstone.
        package init(partition: Int32, start: Int, keyBytes: Int, valueBytes: Int?) {
            precondition(start >= 0 && keyBytes >= 0 && valueBytes ?? 0 >= 0, "a record has no bytes before its place")
            (self.partition, self.start) = (partition, start)
            self.keyBytes = Int32(keyBytes)
            self.valueBytes = valueBytes.map { Int32($0) } ?? -1
        }
    }

    package private(set) var bytes: [UInt8] = []
    package private(set) var places: [Place] = []

    package init() {}

    package init(_ records: some Sequence<StoredRecord>) { for record in records { append(record) } }

    /// - Parameter places: each lies in `bytes`.
    package init(bytes: [UInt8], places: [Place]) {
        let end = places.last.map { ($0.value ?? $0.key).upperBound } ?? 0
        precondition(end <= bytes.count, "each record lies in the bytes")
        (self.bytes, self.places) = (bytes, places)
    }

    package var count: Int { places.count }
    package var isEmpty: Bool { places.isEmpty }

    package mutating func append(_ record: StoredRecord) {
        places.append(
            Place(
                partition: record.partition,
                start: bytes.count,
                keyBytes: record.key.count,
                valueBytes: record.value?.count
            )
        )
        bytes += record.key
        bytes += record.value ?? []
    }

    /// The ranges of records of one partition: they come in runs.
    package var runs: [(partition: Int32, range: Range<Int>)] {
        var (runs, start) = ([(partition: Int32, range: Range<Int>)](), 0)
        while start < places.count {
            let partition = places[start].partition
            let end = places[start...].firstIndex { $0.partition != partition } ?? places.count
            runs.append((partition, start..<end))
            start = end
        }
        return runs
    }

    /// The records of other partitions.
    package func without(_ partitions: [Int32]) -> StoredRecords {
        guard !partitions.isEmpty else { return self }
        return StoredRecords(bytes: bytes, places: places.filter { !partitions.contains($0.partition) })
    }

    /// Copies of the records, each on its own.
    package var records: [StoredRecord] {
        places.map { place in
            StoredRecord(
                partition: place.partition,
                key: Array(bytes[place.key]),
                value: place.value.map { Array(bytes[$0]) }
            )
        }
    }
}

/// A record of the ledger topic as it is read back. A nil value is a tombstone.
package struct StoredRecord: Sendable, Equatable {
    package var partition: Int32
    package var key: [UInt8]
    package var value: [UInt8]?

    package init(partition: Int32, key: [UInt8], value: [UInt8]?) {
        (self.partition, self.key, self.value) = (partition, key, value)
    }
}
