/// Consecutive records of one stream in the bytes of their file.
package struct PackedOutput: Sendable {
    package let stream: OutputTopic
    package var bytes: [UInt8]

    package init(stream: OutputTopic, bytes: [UInt8]) {
        self.stream = stream
        self.bytes = bytes
    }
}
