internal import CRdkafka
internal import Glibc

/// The lowest and highest acknowledged offset by partition of one topic, and its latest append time. Runs at every
/// delivery, so it must be cheap.
struct DeliveredOffsets {
    /// The topic's name with its terminating zero byte.
    private let topic: ContiguousArray<CChar>
    /// The lowest and the highest offset of each partition; −1 for none.
    private var offsets: [(low: Int64, high: Int64)] = []
    /// nil where the topic keeps the producers' times.
    private(set) var time: Int64?

    init(topic: String) {
        self.topic = ContiguousArray(topic.utf8CString)
    }

    mutating func note(_ pointer: UnsafePointer<rd_kafka_message_t>) {
        let message = unsafe pointer.pointee
        // The library's name, lent for the call. Both names end with a zero byte.
        guard let name = unsafe rd_kafka_topic_name(message.rkt),
            unsafe topic.withUnsafeBufferPointer({ unsafe isEqual($0.baseAddress, name) })
        else { return }
        unsafe note(partition: Int(message.partition), offset: message.offset)
        if let appended = unsafe DeliveryReport.appendTime(of: pointer) { time = max(time ?? appended, appended) }
    }

    private func isEqual(_ left: UnsafePointer<CChar>?, _ right: UnsafePointer<CChar>) -> Bool {
        unsafe left.map { unsafe strcmp($0, right) == 0 } ?? false
    }

    /// A record acknowledged as a duplicate has no offset: the partition's offsets stay as they are.
    private mutating func note(partition: Int, offset: Int64) {
        guard partition >= 0, offset >= 0 else { return }
        let missing = partition + 1 - offsets.count
        if missing > 0 { offsets.append(contentsOf: repeatElement((low: -1, high: -1), count: missing)) }
        let (low, high) = offsets[partition]
        offsets[partition] = (low < 0 ? offset : min(low, offset), max(high, offset))
    }

    mutating func reset() {
        time = nil
        for partition in offsets.indices { offsets[partition] = (-1, -1) }
    }

    /// The highest ones, by partition.
    var byPartition: [Int32: Int64] { table(of: \.high) }

    /// The lowest ones, by partition.
    var firstByPartition: [Int32: Int64] { table(of: \.low) }

    private func table(of end: ((low: Int64, high: Int64)) -> Int64) -> [Int32: Int64] {
        var result: [Int32: Int64] = [:]
        for (partition, ends) in offsets.enumerated() where ends.low >= 0 { result[Int32(partition)] = end(ends) }
        return result
    }
}
