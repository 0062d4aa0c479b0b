package import Log

/// A record to publish. Its own partition number counts only with ``CapturePublisher/Options/keepsPartitions``.
package struct PublishRecord: Sendable, Equatable {
    package var key: [UInt8]?
    package var value: [UInt8]?
    package var headers: [RecordHeader]
    package var partition: Int32?

    package init(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = [], partition: Int32? = nil) {
        self.key = key
        self.value = value
        self.headers = headers
        self.partition = partition
    }
}
