package import BrokerKit

/// Something that the network does to one request, the next one that fits.
package struct NetworkFault: Sendable {
    package enum Action: Sendable, Equatable {
        /// The request does not arrive. A copy stays in the network and arrives late, on a connection of its own. The
        /// client's connection is cut, so that it repeats the request immediately.
        case hold(Release)
        /// The connection is cut, and the request does not arrive.
        case cutBefore
        /// The request is answered; the connection is cut before the answer.
        case cutBeforeAnswer
        /// The connection is cut after the answer.
        case cutBehindAnswer
        /// The request, and everything that the client sends after it, arrives late.
        case delay(Duration)
        /// The answer, and everything that the broker sends after it, arrives late.
        case delayAnswer(Duration)
        /// The request does not arrive, and the connection stays.
        case swallow
        /// The request arrives, its answer does not, and the connection stays.
        case swallowAnswer
    }

    /// When a held frame is released.
    package enum Release: Sendable, Hashable {
        /// By ``NetworkProxy/deliver(_:)``.
        case byHand
        /// Behind the first request of this key, answered, in a later transaction of the same transactional id. What
        /// that transaction sends next waits until the broker has answered the late frame.
        case behindNext(APIKey)
    }

    package var key: APIKey
    package var action: Action
    /// So many requests that fit pass before it.
    package var skips = 0

    package init(_ action: Action, _ key: APIKey) { (self.action, self.key) = (action, key) }
}

/// The state of the way to one broker, until it is changed.
package struct NetworkWeather: Sendable, Equatable {
    /// In bytes per second and direction, all connections together; nil = as fast as it goes.
    package var bytesPerSecond: Int?
    /// Stopped bytes are not lost: they continue when the direction opens again, like retransmitted packets.
    package var stopsRequests = false
    package var stopsAnswers = false

    package static let clear = NetworkWeather()
    package static let requestsOnly = NetworkWeather(stopsAnswers: true)
    package static let answersOnly = NetworkWeather(stopsRequests: true)
    /// Connections stay open, and nothing comes through.
    package static let blackHole = NetworkWeather(stopsRequests: true, stopsAnswers: true)

    package static func throttled(bytesPerSecond: Int) -> NetworkWeather {
        NetworkWeather(bytesPerSecond: max(1, bytesPerSecond))
    }
}
