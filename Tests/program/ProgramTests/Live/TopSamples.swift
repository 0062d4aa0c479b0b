@testable internal import Telemetry

/// Pages of instances, as text.
enum TopSamples {
    static let hold =
        "the group's offset 40 is behind what the ledger has applied, 57: requests from 40 to 56 would be answered twice. "
        + "To go on where the ledger is: attest-worker reset --config DIR --offsets-only --partitions 3 --to-applied"

    /// A worker's page after so many seconds of work.
    static func worker(_ seconds: Int, start: Int = 1_000, lag: Int = 12, more: String = "") -> String {
        """
        # HELP attest_state x
        attest_state{state="starting"} 0
        attest_state{state="running"} 1
        process_start_time_seconds \(start)
        attest_requests_total{app="a",verb="verifyAssertion",verdict="accepted"} \(1_000 + 1_500 * seconds)
        attest_requests_total{app="a",verb="verifyAssertion",verdict="refused",reason="counter-not-greater"} \(seconds * 5 / 2)
        attest_requests_total{app="b",verb="exchangeAppAttestAttestation",verdict="accepted"} 0
        attest_dead_letters_total{reason="not-json"} 0
        attest_tokens_minted_total{app="b",kind="session",algorithm="RS256"} \(7 * seconds)
        attest_token_verifications_total{app="b",outcome="first_use"} 3
        attest_consumer_lag_records{partition="0"} 0
        attest_consumer_lag_records{partition="3"} \(lag)
        attest_partition_unstable_records{partition="0"} 0
        attest_partition_unstable_records{partition="3"} 4
        attest_assigned_partitions 2
        attest_lanes 8
        attest_batches_in_flight 2
        attest_answer_age_seconds_bucket{le="0.1"} 7
        \(more)
        """
    }

    static func status(_ more: String = "") -> String {
        #"{"state":"running","apps":[{"app":"a","name":"Shop for iOS"}],"partitions":[{"partition":0}]\#(more)}"#
    }

    static let held =
        #"{"state":"running","partitions":[{"partition":3,"hold":"\#(hold)"}],"#
        + #""lastFault":{"at":"2026-11-27T04:30:00.000Z","message":"the broker is away"}}"#

    static let gateway = """
        attest_state{state="waiting_for_broker"} 1
        process_start_time_seconds 1
        attest_gateway_requests_total{verb="exchange",code="200"} 100
        attest_gateway_requests_total{verb="exchange",code="503"} 10
        attest_gateway_waiting 3
        attest_gateway_connections 41
        attest_gateway_deadlines_total 2
        """

    static func answer(
        _ metrics: String,
        _ status: String? = status(),
        readiness: String? = nil,
        at: Int64
    ) -> TopInstance.Answer {
        TopInstance.Answer(
            metrics: Scrape(Array(metrics.utf8)),
            status: ShownStatus(
                status: status.map { Array($0.utf8) },
                readiness: readiness.map { Array($0.utf8) }
            ),
            at: at
        )
    }

    static func worker(_ address: String, _ status: String = status(), lag: Int = 12) -> TopInstance {
        var instance = TopInstance(address)
        instance.note(answer(worker(0, lag: lag), status, at: 10_000))
        instance.note(answer(worker(2, lag: lag), status, at: 12_000))
        return instance
    }

    static func silent(_ address: String) -> TopInstance {
        var instance = TopInstance(address)
        instance.note(fault: "Couldn't connect to server")
        return instance
    }

    static var gatewayInstance: TopInstance {
        let away = "no broker is connected"
        var instance = TopInstance("gateway-1:9465")
        instance.note(
            answer(
                gateway,
                nil,
                readiness: #"{"state":"waiting_for_broker","reason":"\#(away)","troubles":["\#(away)"]}"#,
                at: 1_000
            )
        )
        return instance
    }

    static var all: [TopInstance] {
        [
            worker("worker-1.example.com:9464"), worker("worker-2.example.com:9464", held, lag: 3_456_789),
            silent("worker-3.example.com:9464"), gatewayInstance,
        ]
    }
}
