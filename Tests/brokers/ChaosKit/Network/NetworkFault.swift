/// Something that the network does to one request, the next one that fits.
package struct NetworkFault: Sendable {
    package enum Action: Sendable, Equatable {
        /// The request does not arrive. A copy stays in the network and arrives late, on a connection of its own. The
        /// client's connection is cut, so that it repeats the request immediately.
        case hold(Release)
        /// The connection is cut, and the request does not arrive.
        case cutBefore
        /// The request arrives, and the connection is cut immediately.
        case cutBehind
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

    package var keys: Set<APIKey>
    package var action: Action
    /// EndTxn: of a commit only, of an abort only; nil = of both.
    package var isCommit: Bool?
    /// nil = any. From 1 on.
    package var broker: Int?
    /// nil = any, or none.
    package var transactionalID: String?
    /// So many requests that fit pass before it.
    package var skips = 0

    package init(_ action: Action, _ keys: APIKey...) { (self.action, self.keys) = (action, Set(keys)) }

    package init(_ action: Action, keys: Set<APIKey>) { (self.action, self.keys) = (action, keys) }

    func fits(_ head: RequestHead, broker: Int) -> Bool {
        guard keys.contains(head.key), self.broker ?? broker == broker else { return false }
        if let isCommit, head.isCommit != isCommit { return false }
        return transactionalID.map { Array($0.utf8) == head.transactionalID } ?? true
    }
}

/// The state of the way to one broker, until it is changed.
package struct NetworkWeather: Sendable, Equatable {
    /// In bytes per second and direction, all connections together; nil = as fast as it goes.
    package var bytesPerSecond: Int?
    /// Stopped bytes are not lost: they continue when the direction opens again, like retransmitted packets.
    package var stopsRequests = false
    package var stopsAnswers = false
    /// New connections are refused.
    package var refusesConnections = false

    package init() {}

    package static let clear = NetworkWeather()

    package static func throttled(bytesPerSecond: Int) -> NetworkWeather {
        var weather = NetworkWeather()
        weather.bytesPerSecond = max(1, bytesPerSecond)
        return weather
    }

    /// Requests pass, answers do not.
    package static let requestsOnly: NetworkWeather = {
        var weather = NetworkWeather()
        weather.stopsAnswers = true
        return weather
    }()

    /// Answers pass, requests do not.
    package static let answersOnly: NetworkWeather = {
        var weather = NetworkWeather()
        weather.stopsRequests = true
        return weather
    }()

    /// Connections stay open, and nothing comes through.
    package static let blackHole: NetworkWeather = {
        var weather = NetworkWeather()
        (weather.stopsRequests, weather.stopsAnswers) = (true, true)
        return weather
    }()
}
