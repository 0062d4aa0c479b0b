internal import AppAttest
internal import Crypto
internal import Kafka
internal import Pipeline
internal import Risk
internal import Telemetry

/// A refresher's snapshot as a scrape.
enum RefreshMetricsPage {
    static func write(_ snapshot: RefreshSnapshot, _ format: Exposition.Format) -> [UInt8] {
        var text = Exposition(format)
        writeProcess(snapshot, &text)
        writeCalls(snapshot, &text)
        writeState(snapshot.figures, &text)
        return text.finish()
    }

    private static func writeProcess(_ snapshot: RefreshSnapshot, _ text: inout Exposition) {
        let names = [snapshot.version, LibraryVersion.text, CryptoVersion.openSSL, ""]
        text.write(.buildInfo, [MetricSample(names, whole: 1)])
        text.write(.reloadSuccessful, [MetricSample(flag: snapshot.isReloaded)])
        text.write(.reloadTime, [MetricSample(real: Double(snapshot.reloadedAt) / 1000)])
        text.write(.state, WorkerState.allCases.map { MetricSample([$0.rawValue], flag: $0 == snapshot.state) })
        text.write(snapshot.brokers.figures)
        if let process = snapshot.process { text.write(process) }
    }

    private static func writeCalls(_ snapshot: RefreshSnapshot, _ text: inout Exposition) {
        let figures = snapshot.figures
        let calls = figures.counts.calls.sorted {
            ($0.key.environment.rawValue, $0.key.outcome) < ($1.key.environment.rawValue, $1.key.outcome)
        }
        text.write(
            .riskCalls,
            calls.map { MetricSample([$0.key.environment.rawValue, $0.key.outcome], whole: $0.value) }
        )
        text.write(.riskSkipped, samples(figures.counts.skipped) { MetricSample([$0], whole: $1) })
        let durations = snapshot.durations.sorted { $0.key.rawValue < $1.key.rawValue }
        text.write(
            .riskDuration,
            durations.map { MetricSample([$0.key.rawValue], .histogram($0.value, unit: 0.001)) }
        )
        text.write(.riskInFlight, samples(figures.inFlight) { MetricSample([$0], whole: $1) })
        text.write(
            .riskLastSuccess,
            samples(figures.counts.lastSuccess) { MetricSample([$0], real: Double($1.milliseconds) / 1000) }
        )
    }

    private static func writeState(_ figures: RefreshFigures, _ text: inout Exposition) {
        text.write(
            .riskLag,
            ReceiptLine.allCases.map { MetricSample([$0.name], real: Double(figures.lags[$0] ?? 0) / 1000) }
        )
        text.write(.riskRate, samples(figures.rates) { MetricSample([$0], real: $1) })
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
