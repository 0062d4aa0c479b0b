internal import AppAttest
internal import Pipeline
internal import Risk
package import Settings
package import Telemetry

package typealias RefreshMonitor = StateMonitor<RefreshFacts>

/// The facts of a refresher that its metrics show.
package struct RefreshFacts: StateFacts {
    package static let comfort = "receipts wait and none is lost"
    /// Milliseconds of a call to Apple.
    private static let durationBounds = Histogram([50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 30_000])

    var figures = RefreshFigures()
    private var durations: [Environment: Histogram] = [:]

    package init() {}

    package static func port(in configuration: Configuration) -> (number: Int, setting: String) {
        (configuration.metricsPort, "metrics")
    }

    /// - Parameter milliseconds: of a call that has ended.
    mutating func add(duration milliseconds: Int64, _ environment: Environment) {
        durations[environment, default: Self.durationBounds].add(milliseconds)
    }

    package func write(to text: inout Exposition) {
        let calls = figures.counts.calls.sorted {
            ($0.key.environment.rawValue, $0.key.outcome) < ($1.key.environment.rawValue, $1.key.outcome)
        }
        text.write(
            .riskCalls,
            calls.map { MetricSample([$0.key.environment.rawValue, $0.key.outcome], whole: $0.value) }
        )
        text.write(.riskSkipped, Self.samples(figures.counts.skipped) { MetricSample([$0], whole: $1) })
        text.write(.riskDuration, Self.samples(durations) { MetricSample([$0], .histogram($1, unit: 0.001)) })
        text.write(.riskInFlight, Self.samples(figures.inFlight) { MetricSample([$0], whole: $1) })
        text.write(
            .riskLastSuccess,
            Self.samples(figures.counts.lastSuccess) { MetricSample([$0], real: Double($1.milliseconds) / 1000) }
        )
        writeState(&text)
    }

    private func writeState(_ text: inout Exposition) {
        text.write(
            .riskLag,
            ReceiptLine.allCases.map { MetricSample([$0.name], real: Double(figures.lags[$0] ?? 0) / 1000) }
        )
        text.write(.riskRate, Self.samples(figures.rates) { MetricSample([$0], real: $1) })
        let breakers = figures.breakers.sorted {
            ($0.key.environment.rawValue, $0.key.team) < ($1.key.environment.rawValue, $1.key.team)
        }
        text.write(
            .riskBreaker,
            breakers.map { MetricSample([$0.key.environment.rawValue, $0.key.team], flag: $0.value) }
        )
    }

    private static func samples<Value>(
        _ values: [Environment: Value],
        _ make: (String, Value) -> MetricSample
    ) -> [MetricSample] {
        values.sorted { $0.key.rawValue < $1.key.rawValue }.map { make($0.key.rawValue, $0.value) }
    }
}
