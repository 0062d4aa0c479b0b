internal import BrokerKit

/// Asks the brokers about the transaction of one transactional id, past any network between them and the workers.
///
/// DescribeTransactions on a connection of its own: an answer takes a millisecond, where Kafka's tool takes seconds.
struct TransactionQuestion {
    private static let seconds = 2
    private static let correlation: Int32 = 7

    private let ports: [UInt16]

    /// - Parameter servers: of the brokers' plain listeners, as `bootstrap.servers`.
    init(servers: String) {
        ports = servers.split(separator: ",").compactMap { $0.split(separator: ":").last.flatMap { UInt16($0) } }
    }

    /// Whether the transaction has begun at its coordinator, and is not decided.
    func isOpen(_ id: String) -> Bool {
        for port in ports {
            guard let client = try? FakeClient(port: port) else { continue }
            client.send(Self.frame(id), seconds: Self.seconds)
            guard client.hasAnswers(1, seconds: Self.seconds), let answer = client.frames.first else { continue }
            if let state = Self.state(in: answer) { return state == "Ongoing" }
        }
        return false
    }

    /// Version 0 with a header of version 2: client's name null, no tags.
    static func frame(_ id: String) -> [UInt8] {
        let name = Array(id.utf8.prefix(100))
        let head = FakeRequest.big(APIKey.describeTransactions.rawValue) + [0, 0] + FakeRequest.big(correlation)
        let body = head + [0xFF, 0xFF, 0] + [2, UInt8(name.count + 1)] + name + [0]
        return FakeRequest.big(Int32(body.count)) + body
    }

    /// - Returns: as the coordinator calls it; nil for a broker that is not the coordinator, or does not know the id.
    static func state(in frame: [UInt8]) -> String? {
        // The length, then the header with its tags, then the throttle time.
        var reader = FrameReader(frame, from: 4)
        guard reader.int32() == correlation, reader.skipTags(), reader.skip(4), reader.byte() == 2,
            reader.int16() == 0, reader.compactString() != nil, let state = reader.compactString()
        else { return nil }
        return String(decoding: state, as: UTF8.self)
    }
}
