/// A record of the ledger topic as it is read back. A nil value is a tombstone.
package struct StoredRecord: Sendable, Equatable {
    package var partition: Int32
    package var key: [UInt8]
    package var value: [UInt8]?

    package init(partition: Int32, key: [UInt8], value: [UInt8]?) {
        self.partition = partition
        self.key = key
        self.value = value
    }
}
