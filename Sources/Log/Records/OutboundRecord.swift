/// A record to be written: same partition number as the request it answers.
package struct OutboundRecord: Sendable, Equatable {
    package var stream: OutputTopic
    package var partition: Int32
    /// The request's offset and timestamp: capture files carry them, Kafka does not.
    package var sourceOffset: Int64
    package var sourceTimestamp: Int64
    package var key: [UInt8]?
    package var value: [UInt8]?
    package var headers: [RecordHeader]
    /// The id of the answered request, as results name it; nil = a record of the ledger. A unit that answers callers
    /// reads it here instead of parsing JSON; topics and files do not carry it.
    package var requestID: [UInt8]?
    /// The HTTP status of the outcome; nil where the output has none: events, dead letters, the ledger.
    package var status: Int?

    package init(
        stream: OutputTopic,
        partition: Int32,
        sourceOffset: Int64,
        sourceTimestamp: Int64,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [RecordHeader] = [],
        requestID: [UInt8]? = nil,
        status: Int? = nil
    ) {
        self.stream = stream
        self.partition = partition
        self.sourceOffset = sourceOffset
        self.sourceTimestamp = sourceTimestamp
        self.key = key
        self.value = value
        self.headers = headers
        self.requestID = requestID
        self.status = status
    }
}

extension OutboundRecord {
    /// The two lengths before a header's name and value on the wire, five bytes each at most.
    private static let headerOverhead = 10

    /// Key, value and headers together, in bytes: the broker's count or a few more.
    package var byteCount: Int { Self.byteCount(key: key, value: value, headers: headers) }

    /// Of a record before it is made.
    package static func byteCount(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader]) -> Int {
        headers.reduce((key?.count ?? 0) + (value?.count ?? 0)) {
            $0 + $1.name.count + ($1.value?.count ?? 0) + headerOverhead
        }
    }
}
