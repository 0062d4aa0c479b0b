package import Streams

/// The requests topic that records are made for: each gets its partition and offset, as in an empty topic.
package struct RequestTopic {
    private let name: String
    private let partition: (_ key: [UInt8]) -> Int32
    private var offsets: [Int64]
    /// The partition of the next record without a key: round robin, as a gateway does it.
    private var keyless: Int32 = 0

    /// - Parameters:
    ///   - partitions: how many there are.
    ///   - partition: of a key, as producers choose it.
    package init(name: String, partitions: Int32, partition: @escaping (_ key: [UInt8]) -> Int32) {
        precondition(partitions > 0, "a topic has at least one partition")
        (self.name, self.partition) = (name, partition)
        offsets = Array(repeating: 0, count: Int(partitions))
    }

    /// Places a record after those placed before.
    package mutating func place(_ record: inout InboundRecord) {
        record.topic = name
        if let key = record.key {
            record.partition = partition(key)
        } else {
            record.partition = keyless
            keyless = (keyless + 1) % Int32(offsets.count)
        }
        record.offset = offsets[Int(record.partition)]
        offsets[Int(record.partition)] += 1
    }
}
