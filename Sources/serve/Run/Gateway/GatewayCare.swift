package import Gateway
package import Settings
package import Telemetry

/// The work that a running gateway does some times a second: deadlines, changed files, a look at brokers and topics.
package struct GatewayCare {
    private let gateway: Gateway
    private let watch: ReloadWatch<LoadedGateway>
    private let brokers: TopicsWatch
    private var reporter: GatewayReporter

    /// - Parameter replies: the topic of replies; nil = the gateway reads results and tokens.
    package init(_ gateway: Gateway, _ watch: ReloadWatch<LoadedGateway>, _ brokers: TopicsWatch, replies: String?) {
        (self.gateway, self.watch, self.brokers) = (gateway, watch, brokers)
        reporter = GatewayReporter(replies: replies)
    }

    /// - Parameter now: milliseconds of a clock that never goes back.
    /// - Returns: why the gateway is not fit, nil = it is; and what its log must say.
    package mutating func poll(_ now: @escaping @Sendable () -> Int64) -> (unfitness: String?, events: [LogEvent]) {
        gateway.poll()
        watch.poll()
        brokers.poll(now: now)
        gateway.note(hindrance: brokers.hindrance(now: now()))
        let unfitness = gateway.unfitness
        return (unfitness, reporter.poll(unfitness, gateway.counts, unknown: gateway.takeUnknown()))
    }
}
