package import AppCheck
package import KafkaPorts
package import Streams

/// A record of the dead-letter topic, as the worker wrote it.
package struct DeadLetter: Equatable {
    package let partition: Int32
    package let offset: Int64
    /// Milliseconds since 1970.
    package let timestamp: Int64
    package let reason: DeadLetterReason
    /// The topic of the request.
    package let topic: String
    /// The topic, partition and offset of the request.
    package let origin: String
    /// Its value was left out: the request cannot be written again.
    package let isTruncated: Bool
    package let key: [UInt8]?
    package let value: [UInt8]?
    /// The request's headers, with an id: a request without one has its record's place as its id, and that has changed.
    package let headers: [RecordHeader]

    /// - Parameter requestIDBytes: the longest id that is added.
    /// - Returns: nil for a record that no worker wrote.
    package init?(_ record: TopicRecord, requestIDBytes: Int) {
        guard let all = record.headers else { return nil }
        var texts: [String: String] = [:]
        for header in all where Self.isOurs(header) {
            texts[String(decoding: header.name, as: UTF8.self)] = String(decoding: header.value ?? [], as: UTF8.self)
        }
        guard let name = texts["dlq.reason"], let reason = DeadLetterReason(rawValue: name),
            let topic = texts["dlq.topic"], let place = texts["dlq.partition"], let offset = texts["dlq.offset"]
        else { return nil }
        (partition, self.offset, timestamp) = (record.partition, record.offset, record.timestamp)
        self.topic = topic
        (self.reason, origin, isTruncated) = (reason, "\(topic)/\(place)/\(offset)", texts["dlq.truncated"] != nil)
        (key, value) = (record.key, record.value)
        let own = all.filter { !Self.isOurs($0) }
        let id = Array(origin.utf8)
        let hasID = own.contains { $0.name.elementsEqual("request-id".utf8) }
        let added = RecordHeader(name: Array("request-id".utf8), value: id)
        headers = hasID || id.count > requestIDBytes ? own : own + [added]
    }

    private static func isOurs(_ header: RecordHeader) -> Bool { header.name.starts(with: "dlq.".utf8) }
}

/// The selection of dead letters.
package struct DeadLetterChoice: Equatable {
    package var reason: DeadLetterReason?
    /// Letters written from this time on, in milliseconds since 1970.
    package var since: Int64?
    /// The most letters: the first ones.
    package var limit: Int?

    package init() {}

    func includes(_ letter: DeadLetter) -> Bool {
        if let reason, reason != letter.reason { return false }
        return since.map { letter.timestamp >= $0 } ?? true
    }
}
