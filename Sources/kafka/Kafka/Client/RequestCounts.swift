internal import CRdkafka
internal import KafkaPorts
internal import Synchronization

/// The requests that a client wrote to its sockets in full, and how many of them were answered, by kind.
///
/// librdkafka repeats a request of a transaction inside a call that succeeds, while the first copy may still lie in a
/// queue of the network (KAFKA-17754). No return code, error callback or log line shows it; these counts do: if a kind
/// has more requests than answers, the fate of one copy is unknown. "Try again" counts as an answer.
///
/// Callbacks come on the library's own threads until the client is destroyed, so the client's owner must keep this
/// object for longer.
final class RequestCounts: Sendable {
    /// The kinds of requests, by their number in Kafka's protocol.
    enum Kind: Int16, CaseIterable, Sendable {
        case initProducerID = 22
        case addPartitionsToTransaction = 24
        case addOffsetsToTransaction = 25
        case endTransaction = 26
        case transactionalOffsetCommit = 28
    }

    private final class Counter: Sendable {
        let sent = Atomic(0)
        /// The library's callbacks about answers: two for each answer.
        let answerCalls = Atomic(0)
    }

    private let counters = Dictionary(uniqueKeysWithValues: Kind.allCases.map { ($0.rawValue, Counter()) })
    private let isCounting = Atomic(false)

    /// Requests of a kind that were sent and have no answer so far.
    func unanswered(_ kind: Kind) -> Int {
        guard let counter = counters[kind.rawValue] else { return 0 }
        // Answers first: one that comes in between is then missed, but never a request.
        let answers = counter.answerCalls.load(ordering: .sequentiallyConsistent) / Self.callsPerAnswer
        return max(0, counter.sent.load(ordering: .sequentiallyConsistent) - answers)
    }

    /// The library (2.0.2 to 2.15.0) reports an answer once on the connection's thread and once on the thread that handles
    /// it, both before the answer is handled, and so before the call that waits for it returns. Its callbacks name no
    /// request: the correlation id is 0.
    private static let callsPerAnswer = 2

    private func noteSent(_ kind: Int16) {
        _ = counters[kind]?.sent.wrappingAdd(1, ordering: .sequentiallyConsistent)
    }

    /// - Parameter code: the connection's, not the answer's content. With an error there was no answer.
    private func noteAnswer(_ kind: Int16, _ code: rd_kafka_resp_err_t) {
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        _ = counters[kind]?.answerCalls.wrappingAdd(1, ordering: .sequentiallyConsistent)
    }
}

// MARK: - Callbacks

extension RequestCounts {
    private static let name = "request-counts"

    /// Makes the client of this configuration count its requests.
    func register(in configuration: OpaquePointer) {
        // Unretained: ClientHandle keeps this object until the client is destroyed, which joins the library's threads.
        let opaque = unsafe Unmanaged.passUnretained(self).toOpaque()
        // The name is copied. Called once, inside rd_kafka_new; whether it worked is asked by requireCounting().
        _ = unsafe rd_kafka_conf_interceptor_add_on_new(
            configuration,
            Self.name,
            { client, _, opaque, _, _ in unsafe RequestCounts.start(client, opaque) },
            opaque
        )
    }

    /// - Throws: a fatal ``KafkaFault`` if the library did not let this object count: repeats would stay hidden.
    func requireCounting() throws(KafkaFault) {
        guard isCounting.load(ordering: .sequentiallyConsistent) else {
            throw .fatal("this librdkafka does not report which requests it sends")
        }
    }

    private static func start(_ client: OpaquePointer?, _ opaque: UnsafeMutableRawPointer?) -> rd_kafka_resp_err_t {
        let sent = unsafe rd_kafka_interceptor_add_on_request_sent(
            client,
            name,
            { _, _, _, _, kind, _, _, _, opaque in
                unsafe RequestCounts.from(opaque)?.noteSent(kind)
                return RD_KAFKA_RESP_ERR_NO_ERROR
            },
            opaque
        )
        let answered = unsafe rd_kafka_interceptor_add_on_response_received(
            client,
            name,
            { _, _, _, _, kind, _, _, _, _, code, opaque in
                unsafe RequestCounts.from(opaque)?.noteAnswer(kind, code)
                return RD_KAFKA_RESP_ERR_NO_ERROR
            },
            opaque
        )
        guard sent == RD_KAFKA_RESP_ERR_NO_ERROR, answered == RD_KAFKA_RESP_ERR_NO_ERROR else {
            return sent == RD_KAFKA_RESP_ERR_NO_ERROR ? answered : sent
        }
        unsafe from(opaque)?.isCounting.store(true, ordering: .sequentiallyConsistent)
        return RD_KAFKA_RESP_ERR_NO_ERROR
    }

    private static func from(_ opaque: UnsafeMutableRawPointer?) -> RequestCounts? {
        // The pointer is the one registered above, of an object that outlives the client.
        unsafe opaque.map { unsafe Unmanaged<RequestCounts>.fromOpaque($0).takeUnretainedValue() }
    }
}
