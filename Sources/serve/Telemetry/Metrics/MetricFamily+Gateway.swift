/// A gateway's own families.
extension MetricFamily {
    static let gatewayRequests = counter(
        "attest_gateway_requests",
        ["verb", "code"],
        "Calls by what they ask for and the HTTP status of their answers."
    )
    static let gatewayDuration = MetricFamily(
        base: "attest_gateway_request_duration_seconds",
        kind: .histogram,
        help: "Time from a call's arrival to its answer.",
        labels: ["verb"]
    )
    static let gatewayWaiting = gauge("attest_gateway_waiting", [], "Calls that wait for answers of a worker.")
    static let gatewayWaitingBytes = gauge("attest_gateway_waiting_bytes", [], "Bytes of these calls.")
    static let gatewayConnections = gauge("attest_gateway_connections", [], "Open connections.")
    static let gatewayReadBytes = gauge("attest_gateway_read_bytes", [], "Bytes of bodies that are being read.")
    static let gatewayProduceFailures = counter(
        "attest_gateway_produce_failures",
        ["persisted"],
        "Requests that were not acknowledged: `no` was answered with 503, `maybe` may still be answered."
    )
    static let gatewayDeadlines = counter(
        "attest_gateway_deadlines",
        [],
        "Calls that got 504: no answer came in time."
    )
    static let gatewayWorkerBehind = counter(
        "attest_gateway_worker_behind",
        [],
        "Answers 400 and 404 of workers to requests that the gateway found right, and 403 to objects that its apps.json accepts. Sent as 503."
    )
    static let gatewayForeign = counter(
        "attest_gateway_foreign_replies",
        [],
        "Answers read to requests of other gateways, or of calls that wait no longer."
    )
    static let gatewayRejected = counter(
        "attest_gateway_rejected",
        ["cause"],
        "Calls that were answered without a request on a topic."
    )
    static let gatewayRefusedTokens = counter(
        "attest_gateway_verify_refused",
        ["cause"],
        "Calls of `/v1/verify` that did not pass: `none` had no token, `app` one of another app, `parameters` is the proxy's."
    )
    static let gatewayMalformed = counter(
        "attest_gateway_malformed_http",
        ["cause"],
        "Requests that are not the HTTP that this server takes."
    )
    static let gatewaySlow = counter(
        "attest_gateway_slow_connections",
        [],
        "Connections closed because a request took too long to arrive, or an answer to be taken."
    )
    static let gatewayOwnBundles = counter(
        "attest_gateway_bundles",
        ["app", "bundle"],
        "Calls whose `X-Ios-Bundle-Identifier` is a bundle of the app, such as that of an App Clip."
    )
    static let gatewayBundles = counter(
        "attest_gateway_foreign_bundles",
        [],
        "Calls whose `X-Ios-Bundle-Identifier` does not match the app."
    )
    static let gatewayDroppedEvents = counter(
        "attest_gateway_dropped_events",
        [],
        "Events of devices that were not admitted, beyond 500 in a second: calls alone can cause them."
    )
    static let gatewayClock = gauge(
        "attest_gateway_clock_offset_seconds",
        [],
        "How far the brokers' clocks are ahead of this machine's, by their times of its requests: of the broker that differs "
            + "least; beyond 60 s, or a quarter of `challenges.ttl`, not ready."
    )

    static let ofGateway = [
        gatewayRequests, gatewayDuration, gatewayWaiting, gatewayWaitingBytes, gatewayConnections, gatewayReadBytes,
        gatewayProduceFailures, gatewayDeadlines, gatewayWorkerBehind, gatewayForeign, gatewayRejected,
        gatewayRefusedTokens, gatewayMalformed, gatewaySlow, gatewayOwnBundles, gatewayBundles, gatewayDroppedEvents,
        gatewayClock,
    ]

    /// The families of worker, gateway and refresher, in the order of the Metrics page.
    package static let documented = all + ofGateway + ofRisk
}
