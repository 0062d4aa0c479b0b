/// A record to be written: same partition number as the request it answers, but for a reply, which goes where its
/// request asks for it.
package struct OutboundRecord: Sendable, Equatable {
    package var stream: OutputTopic
    package var partition: Int32
    /// The request's offset and timestamp: capture files carry them, Kafka does not.
    package var sourceOffset: Int64
    package var sourceTimestamp: Int64
    /// The HTTP status of the outcome; nil where the output has none: events, dead letters, the ledger.
    package var status: Int?
    package var key: [UInt8]?
    package var value: [UInt8]?
    /// The headers in addition to `request-id` and `status`: see ``headers``.
    package var otherHeaders: [RecordHeader]
    /// The id of the answered request, as results name it; nil = a record of the ledger. A transaction that answers
    /// callers reads it here instead of parsing JSON.
    package var requestID: [UInt8]?
}

extension OutboundRecord {
    /// Calls the memberwise initializer, which has ``status`` at another place: that makes the value in one piece. An
    /// initializer that sets member after member ends with a copy, four retains and four releases.
    package init(
        stream: OutputTopic,
        partition: Int32,
        sourceOffset: Int64,
        sourceTimestamp: Int64,
        key: [UInt8]?,
        value: [UInt8]?,
        otherHeaders: [RecordHeader] = [],
        requestID: [UInt8]? = nil,
        status: Int? = nil
    ) {
        self.init(
            stream: stream,
            partition: partition,
            sourceOffset: sourceOffset,
            sourceTimestamp: sourceTimestamp,
            status: status,
            key: key,
            value: value,
            otherHeaders: otherHeaders,
            requestID: requestID
        )
    }
}

/// The output topics.
package enum OutputTopic: String, Sendable, CaseIterable {
    case results, tokens, events, deadLetters, ledger, replies, receipts

    /// The topics that every worker has; ``replies`` and ``receipts`` are optional.
    package static let required = allCases.filter { $0 != .replies && $0 != .receipts }

    /// Its place among all, for a table: a hash would be that of its name.
    package var place: Int {
        switch self {
        case .results: 0
        case .tokens: 1
        case .events: 2
        case .deadLetters: 3
        case .ledger: 4
        case .replies: 5
        case .receipts: 6
        }
    }
}

/// Consecutive records of one stream in the bytes of their file.
package struct PackedOutput: Sendable {
    package let stream: OutputTopic
    package var bytes: [UInt8]

    package init(stream: OutputTopic, bytes: [UInt8]) { (self.stream, self.bytes) = (stream, bytes) }
}

/// A record's header; Kafka allows null values, any bytes as a name, and one name many times.
package struct RecordHeader: Sendable, Equatable {
    package var name: [UInt8]
    package var value: [UInt8]?

    package init(name: [UInt8], value: [UInt8]?) { (self.name, self.value) = (name, value) }

    package init(_ name: String, _ value: String) {
        self.init(name: Array(name.utf8), value: Array(value.utf8))
    }
}
