internal import CRdkafka
internal import Glibc
internal import KafkaPorts

/// Owns a C list of partitions of one topic.
@safe
struct TopicPartitionList: ~Copyable {
    private let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    /// Partitions without offsets.
    init(topic: String, partitions: [Int32]) {
        self.init(topic: topic, offsets: partitions.map { PartitionOffset(partition: $0, offset: Self.none) })
    }

    init(topic: String, offsets: [PartitionOffset]) {
        // The list copies the topic's name, and allocation failure ends the process inside the library.
        unsafe pointer = rd_kafka_topic_partition_list_new(Int32(clamping: offsets.count))
        for entry in offsets {
            guard let element = unsafe rd_kafka_topic_partition_list_add(pointer, topic, entry.partition) else {
                preconditionFailure("a list takes every partition")
            }
            unsafe element.pointee.offset = entry.offset
            if !entry.metadata.isEmpty { unsafe Self.set(entry.metadata, of: element) }
        }
    }

    /// Gives the list a copy of the metadata, which the list frees.
    private static func set(_ metadata: [UInt8], of element: UnsafeMutablePointer<rd_kafka_topic_partition_t>) {
        // An offset without its text would be taken for another program's.
        guard let copy = unsafe malloc(metadata.count) else { preconditionFailure("there is no memory left") }
        unsafe copy.copyMemory(from: metadata, byteCount: metadata.count)
        unsafe element.pointee.metadata = copy
        unsafe element.pointee.metadata_size = metadata.count
    }

    deinit {
        // The only owner.
        unsafe rd_kafka_topic_partition_list_destroy(pointer)
    }

    /// The library's value for "no offset".
    static let none = Int64(RD_KAFKA_OFFSET_INVALID)

    /// Lends the list to a C call that does not keep it.
    borrowing func withPointer<Result>(
        _ body: (UnsafeMutablePointer<rd_kafka_topic_partition_list_t>) -> Result
    ) -> Result {
        unsafe body(pointer)
    }

    /// The offsets filled in by a call; "no offset" entries included.
    borrowing func offsets() -> [PartitionOffset] {
        unsafe Self.elements(of: pointer).map { element in
            unsafe PartitionOffset(partition: element.partition, offset: element.offset)
        }
    }

    /// The committed offsets filled in by a call.
    borrowing func committed() -> [CommittedOffset] {
        unsafe Self.elements(of: pointer).map { element in
            // The list's own bytes.
            let metadata = unsafe UnsafeRawBufferPointer(start: element.metadata, count: element.metadata_size)
            let offset = unsafe element.offset >= 0 ? element.offset : nil
            return unsafe CommittedOffset(partition: element.partition, offset: offset, metadata: Array(metadata))
        }
    }

    /// The faults of the partitions that a call has marked as failed.
    borrowing func faults(_ action: String) -> [Int32: KafkaFault] {
        let failed = unsafe Self.elements(of: pointer).filter { unsafe $0.err != RD_KAFKA_RESP_ERR_NO_ERROR }
        let faults = unsafe failed.map { entry in
            unsafe (entry.partition, KafkaFault(entry.err, doing: "\(action), partition \(entry.partition)"))
        }
        return Dictionary(faults, uniquingKeysWith: { first, _ in first })
    }

    /// The fault of the first partition that a call has marked as failed.
    borrowing func firstFault(_ action: String) -> KafkaFault? {
        unsafe Self.firstFault(in: pointer, action)
    }

    static func firstFault(
        in list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>,
        _ action: String
    ) -> KafkaFault? {
        let failed = unsafe elements(of: list).first { unsafe $0.err != RD_KAFKA_RESP_ERR_NO_ERROR }
        return unsafe failed.map { unsafe KafkaFault($0.err, doing: "\(action), partition \($0.partition)") }
    }

    /// The partitions of `topic` in a list that the library owns.
    static func partitions(
        of list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>,
        topic: String
    ) -> [Int32] {
        unsafe elements(of: list).compactMap { element in
            unsafe String(cString: element.topic) == topic ? element.partition : nil
        }
    }

    private static func elements(
        of list: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>
    ) -> UnsafeBufferPointer<rd_kafka_topic_partition_t> {
        precondition(unsafe list.pointee.cnt == 0 || list.pointee.elems != nil, "a list has as many as it says")
        // The list's own count and array.
        return unsafe UnsafeBufferPointer(start: list.pointee.elems, count: Int(list.pointee.cnt))
    }
}
