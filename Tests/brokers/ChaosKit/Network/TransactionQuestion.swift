/// Asks the brokers about the transaction of one transactional id, past any network between them and the workers.
///
/// DescribeTransactions on a connection of its own: an answer takes a millisecond, where Kafka's tool takes seconds.
struct TransactionQuestion {
    private static let seconds = 2.0
    private static let correlation: Int32 = 7

    private let ports: [UInt16]

    /// - Parameter servers: of the brokers' plain listeners, as `bootstrap.servers`.
    init(servers: String) {
        ports = servers.split(separator: ",").compactMap { $0.split(separator: ":").last.flatMap { UInt16($0) } }
    }

    /// The state as the coordinator calls it, such as `Ongoing`; nil = no broker answered for it.
    func state(of id: String) -> String? {
        for port in ports {
            var input = FrameBuffer()
            var answer: [UInt8]?
            LoopbackSocket.ask(port, Self.frame(id), seconds: Self.seconds) { bytes in
                input.append(bytes)
                if case .frame(let frame) = input.next() { answer = frame }
                return answer != nil
            }
            if let answer, let state = Self.state(in: answer) { return state }
        }
        return nil
    }

    /// Whether the transaction has begun at its coordinator, and is not decided.
    func isOpen(_ id: String) -> Bool { state(of: id) == "Ongoing" }

    /// Version 0 with a header of version 2: client's name null, no tags.
    static func frame(_ id: String) -> [UInt8] {
        let name = Array(id.utf8.prefix(100))
        let body =
            APIKey.describeTransactions.bytes + [0, 0] + [0, 0, 0, UInt8(correlation)] + [0xFF, 0xFF, 0]
            + [2, UInt8(name.count + 1)] + name + [0]
        return [0, 0, UInt8(body.count >> 8), UInt8(body.count & 0xFF)] + body
    }

    /// - Returns: nil for a broker that is not the coordinator, or does not know the id.
    static func state(in frame: [UInt8]) -> String? {
        // The length, then the header with its tags, then the throttle time.
        var reader = FrameReader(frame, from: 4)
        guard reader.int32() == correlation, reader.skipTags(), reader.skip(4), reader.byte() == 2,
            reader.int16() == 0, reader.compactString() != nil, let state = reader.compactString()
        else { return nil }
        return String(decoding: state, as: UTF8.self)
    }
}

extension APIKey {
    /// As a request has it.
    fileprivate var bytes: [UInt8] { [UInt8(truncatingIfNeeded: rawValue >> 8), UInt8(truncatingIfNeeded: rawValue)] }
}
