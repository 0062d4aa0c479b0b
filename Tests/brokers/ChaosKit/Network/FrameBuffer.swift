/// Bytes of a connection, taken apart into frames: four bytes of length and as many as they say.
struct FrameBuffer {
    private var bytes: [UInt8] = []
    private var start = 0

    /// More than any request or answer of these tests; a longer frame is not Kafka's.
    static let maxFrame = 128 << 20

    /// Takes what has come. - Returns: false = the peer has closed.
    mutating func fill(from socket: LoopbackSocket, by buffer: inout [UInt8]) -> Bool {
        guard let count = socket.read(into: &buffer) else { return false }
        if start > 65_536, start > bytes.count / 2 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: buffer[..<count])
        return true
    }

    enum Next: Equatable {
        case frame([UInt8])
        case incomplete
        case nonsense
    }

    /// The next frame with its length.
    mutating func next() -> Next {
        let count = bytes.count - start
        guard count >= 4 else { return .incomplete }
        let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        guard length >= 4, length <= Self.maxFrame else { return .nonsense }
        guard count >= 4 + length else { return .incomplete }
        let frame = Array(bytes[start..<start + 4 + length])
        start += frame.count
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
            start = 0
        }
        return .frame(frame)
    }
}
