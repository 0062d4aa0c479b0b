package import Gateway
package import HTTP
internal import Pipeline
package import Settings

/// The facts of a gateway that its metrics show; the families are declared where their series are made.
package struct GatewayFacts: StateFacts {
    package static let comfort = "calls get 503 until one is back"

    /// nil before the gateway serves.
    package var gateway: Gateway?
    package var server: HTTPCallServer?

    package init() {}

    package static func port(in configuration: Configuration) -> (number: Int, setting: String) {
        (configuration.gateway.metricsPort ?? configuration.metricsPort, "gateway.metrics.port")
    }

    package func write(to text: inout Exposition) {
        let counts = gateway?.counts
        writeCalls(counts, &text)
        writeRefusals(counts, &text)
        writeHeaders(counts, &text)
        writeConnections(&text)
    }

    private func writeCalls(_ counts: GatewayCounts?, _ text: inout Exposition) {
        let answers = (counts?.answers ?? [:]).sorted {
            ($0.key.verb.name, $0.key.code) < ($1.key.verb.name, $1.key.code)
        }
        text.counter(
            "attest_gateway_requests{verb,code}",
            "Calls by what they ask for and the HTTP status of their answers.",
            answers
        ) { MetricSample([$0.key.verb.name, String($0.key.code)], whole: $0.value) }
        let durations = (counts?.durations ?? [:]).sorted { $0.key.name < $1.key.name }
        text.write(
            .histogram("attest_gateway_request_duration_seconds{verb}", "Time from a call's arrival to its answer."),
            durations.map { MetricSample([$0.key.name], .histogram($0.value, unit: 0.001)) }
        )
        text.gauge("attest_gateway_waiting", "Calls that wait for answers of a worker.") {
            counts.map { .count($0.waiting) }
        }
        text.gauge("attest_gateway_waiting_bytes", "Bytes of these calls.") { counts.map { .count($0.waitingBytes) } }
        text.counter(
            "attest_gateway_produce_failures{persisted}",
            "Requests that were not acknowledged: `no` was answered with 503, `maybe` may still be answered.",
            [("no", counts?.notProduced), ("maybe", counts?.maybeProduced)]
        ) { part in part.1.map { MetricSample([part.0], whole: $0) } }
        text.counter("attest_gateway_deadlines", "Calls that got 504: no answer came in time.") {
            counts.map { .count($0.deadlines) }
        }
    }

    private func writeRefusals(_ counts: GatewayCounts?, _ text: inout Exposition) {
        text.counter(
            "attest_gateway_worker_behind",
            "Answers 400 and 404 of workers to requests that the gateway found right, and 403 to objects and tokens that its files accept. Sent as 503."
        ) { counts.map { .count($0.workerBehind) } }
        text.counter(
            "attest_gateway_foreign_replies",
            "Answers read to requests of other gateways, or of calls that wait no longer."
        ) { counts.map { .count($0.foreignReplies) } }
        text.counter(
            "attest_gateway_rejected{cause}",
            "Calls that were answered without a request on a topic.",
            GatewayCounts.Rejection.allCases
        ) { cause in counts.map { MetricSample([cause.rawValue], whole: $0.rejections[cause] ?? 0) } }
        text.counter(
            "attest_gateway_verify_refused{cause}",
            "Calls of `/v1/verify` that did not pass: `none` had no token, `app` one of another app, `parameters` is the proxy's.",
            VerifyRefusal.allCases
        ) { cause in counts.map { MetricSample([cause.rawValue], whole: $0.refusedTokens[cause] ?? 0) } }
    }

    private func writeHeaders(_ counts: GatewayCounts?, _ text: inout Exposition) {
        text.counter(
            "attest_gateway_bundles{app,bundle}",
            "Calls whose `X-Ios-Bundle-Identifier` is a bundle of the app, such as that of an App Clip.",
            (counts?.bundles ?? [:]).sorted { ($0.key.app, $0.key.name) < ($1.key.app, $1.key.name) }
        ) { MetricSample([$0.key.app, $0.key.name], whole: $0.value) }
        text.counter(
            "attest_gateway_foreign_bundles",
            "Calls whose `X-Ios-Bundle-Identifier` does not match the app."
        ) { counts.map { .count($0.foreignBundles) } }
        text.counter(
            "attest_gateway_dropped_events",
            "Events of devices that were not admitted, beyond 500 in a second: calls alone can cause them."
        ) { counts.map { .count($0.droppedEvents) } }
        let offset = counts?.clockOffset
        text.gauge(
            "attest_gateway_clock_offset_seconds",
            "How far the brokers' clocks are ahead of this machine's, by their times of its requests: of the broker that differs "
                + "least; beyond 60 s, or a quarter of `challenges.ttl`, not ready."
        ) { offset.map { .seconds($0) } }
    }

    private func writeConnections(_ text: inout Exposition) {
        let counts = server?.counts
        text.gauge("attest_gateway_connections", "Open connections.") { counts.map { .count($0.openConnections) } }
        text.gauge("attest_gateway_read_bytes", "Bytes of bodies that are being read.") {
            counts.map { .count($0.readBytes) }
        }
        text.counter(
            "attest_gateway_malformed_http{cause}",
            "Requests that are not the HTTP that this server takes.",
            HTTPRefusalKind.allCases
        ) { cause in counts.map { MetricSample([cause.rawValue], whole: $0.refused[cause] ?? 0) } }
        text.counter(
            "attest_gateway_slow_connections",
            "Connections closed because a request took too long to arrive, or an answer to be taken."
        ) { counts.map { .count($0.timedOut) } }
    }
}

package typealias GatewayMonitor = StateMonitor<GatewayFacts>

extension MetricFamily {
    /// The families of worker, gateway and refresher, in the order of the Metrics page.
    package static let documented: [MetricFamily] = {
        var gateway = Exposition(.text)
        GatewayFacts().write(to: &gateway)
        return MetricFamily.all + gateway.families + MetricFamily.ofRisk
    }()
}
