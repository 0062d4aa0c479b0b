internal import CRdkafka
internal import Glibc
internal import KafkaPorts
internal import Threads

/// The OAuth tokens of the process's clients. All clients that name the same command share one token.
///
/// A client is given each token at once, on the thread that brings it: it asks for none, and no poll of it is needed.
package final class ClientTokens: Sendable {
    private struct State {
        var token: BearerToken?
        var failure: String?
        var hasRefusal = false
        /// Addresses of clients that are alive.
        var clients: Set<UInt> = []
    }

    private let state = Locked(State())
    private static let all = Locked<[String: ClientTokens]>([:])

    /// The tokens of a command: the same object for each caller.
    package static func of(_ command: String) -> ClientTokens {
        all.withLock { all in
            let tokens = all[command] ?? ClientTokens()
            all[command] = tokens
            return tokens
        }
    }

    init() {}

    /// Hands a token to every client, those to come included.
    package func set(_ token: BearerToken) {
        state.withLock { state in
            (state.token, state.failure, state.hasRefusal) = (token, nil, false)
            for client in state.clients { Self.give(token, to: client) }
        }
    }

    /// Tells every client, those to come included, that there is no token, and why.
    package func fail(_ reason: String) {
        state.withLock { state in
            (state.token, state.failure) = (nil, reason)
            for client in state.clients { Self.tell(reason, to: client) }
        }
    }

    /// Why a client without a fault has no connection; nil where there is a token.
    var absence: KafkaFault? {
        let isAbsent = state.withLock { $0.token == nil && $0.failure == nil }
        return isAbsent ? KafkaFault(.transport, "\(KafkaProperties.tokenCommand) has given no token yet") : nil
    }

    /// Whether a broker has refused the present token.
    package var hasRefusal: Bool { state.withLock { $0.hasRefusal } }

    func noteRefusal() { state.withLock { $0.hasRefusal = true } }

    /// - Parameter client: stays alive until it is removed.
    func add(_ client: OpaquePointer) {
        let address = UInt(bitPattern: client)
        state.withLock { state in
            state.clients.insert(address)
            if let token = state.token { Self.give(token, to: address) }
            if let failure = state.failure { Self.tell(failure, to: address) }
        }
    }

    func remove(_ client: OpaquePointer) {
        let address = UInt(bitPattern: client)
        state.withLock { _ = $0.clients.remove(address) }
    }

    /// A token that has ended meanwhile is not taken: the client then waits for the next one.
    private static func give(_ token: BearerToken, to client: UInt) {
        var words = unsafe token.extensions.map { unsafe UnsafePointer(strdup($0)) }
        defer { unsafe words.forEach { unsafe free(UnsafeMutableRawPointer(mutating: $0)) } }
        // The library's reason, which is not kept: it may quote an extension.
        var reason = [CChar](repeating: 0, count: 512)
        // The client is alive while it is in the list. The library copies all of it, and calls nothing of ours.
        _ = unsafe rd_kafka_oauthbearer_set_token(
            OpaquePointer(bitPattern: client),
            token.text,
            token.end,
            token.principal,
            &words,
            words.count,
            &reason,
            reason.count
        )
    }

    private static func tell(_ reason: String, to client: UInt) {
        // As above. The client then reports an error, once for each reason.
        _ = unsafe rd_kafka_oauthbearer_set_token_failure(OpaquePointer(bitPattern: client), reason)
    }
}
