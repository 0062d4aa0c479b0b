package import AppAttest

/// A record's header; Kafka allows null values.
package struct RecordHeader: Sendable, Equatable {
    package var name: [UInt8]
    package var value: [UInt8]?

    package init(name: [UInt8], value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    package init(_ name: String, _ value: String) {
        self.init(name: Array(name.utf8), value: Array(value.utf8))
    }

    package init(_ name: String, _ value: ExactText) {
        self.init(name: Array(name.utf8), value: value.utf8)
    }
}

/// A record read from the log. `timestamp` is in milliseconds, −1 where the log has none.
package struct InboundRecord: Sendable, Equatable {
    package var topic: String
    package var partition: Int32
    package var offset: Int64
    package var timestamp: Int64
    package var key: [UInt8]?
    package var value: [UInt8]?
    package var headers: [RecordHeader]
    /// False if the log could not read them; ``headers`` is then empty, which does not mean that there were none.
    package var hasReadableHeaders = true
    /// The broker wrote the timestamp when it appended the record; else its sender may have chosen it.
    package var hasLogAppendTime = false

    package init(
        topic: String,
        partition: Int32,
        offset: Int64,
        timestamp: Int64,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [RecordHeader] = []
    ) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
    }
}

/// The output topics.
package enum OutputStream: String, Sendable, CaseIterable {
    case results, tokens, events, deadLetters, ledger
}

/// A record to be written: same partition number as the request it answers.
package struct OutboundRecord: Sendable, Equatable {
    package var stream: OutputStream
    package var partition: Int32
    /// The request's offset and timestamp: capture files carry them, Kafka does not.
    package var sourceOffset: Int64
    package var sourceTimestamp: Int64
    package var key: [UInt8]?
    package var value: [UInt8]?
    package var headers: [RecordHeader]

    package init(
        stream: OutputStream,
        partition: Int32,
        sourceOffset: Int64,
        sourceTimestamp: Int64,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [RecordHeader] = []
    ) {
        self.stream = stream
        self.partition = partition
        self.sourceOffset = sourceOffset
        self.sourceTimestamp = sourceTimestamp
        self.key = key
        self.value = value
        self.headers = headers
    }
}

extension OutboundRecord {
    /// The two lengths before a header's name and value on the wire, five bytes each at most.
    private static let headerOverhead = 10

    /// Key, value and headers together, in bytes: the broker's count or a few more.
    package var byteCount: Int {
        headers.reduce((key?.count ?? 0) + (value?.count ?? 0)) {
            $0 + $1.name.count + ($1.value?.count ?? 0) + Self.headerOverhead
        }
    }
}
