/// A refresher's own families.
extension MetricFamily {
    package static let riskCalls = counter(
        "attest_risk_calls{environment,outcome}",
        "Calls to Apple by how they ended; `verified` alone brings a new receipt."
    )
    package static let riskSkipped = counter(
        "attest_risk_skipped{environment}",
        "Receipts that a line skipped after five failed calls."
    )
    package static let riskDuration = histogram(
        "attest_risk_call_duration_seconds{environment}",
        "Time from a call's begin to its end, time-outs included."
    )
    package static let riskInFlight = gauge("attest_risk_calls_in_flight{environment}", "Calls without an answer yet.")
    package static let riskLag = gauge(
        "attest_risk_line_lag_seconds{line}",
        "How long the oldest receipt of a line has been due, in this process; 0 while none is."
    )
    package static let riskRate = gauge(
        "attest_risk_rate_calls_per_second{environment}",
        "This process's part of `risk.callsPerSecond`, lowered by answers 429."
    )
    package static let riskBreaker = gauge(
        "attest_risk_breaker_open{environment,team}",
        "1 while a team's calls stop but for one in 15 minutes; accounts without any failure are left out."
    )
    package static let riskLastSuccess = gauge(
        "attest_risk_last_success_timestamp_seconds{environment}",
        "When the last verified receipt came."
    )

    static let ofRisk = [
        riskCalls, riskSkipped, riskDuration, riskInFlight, riskLag, riskRate, riskBreaker, riskLastSuccess,
    ]
}
