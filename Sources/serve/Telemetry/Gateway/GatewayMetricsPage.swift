internal import Crypto
internal import Gateway
internal import HTTP
internal import Kafka
internal import Pipeline

/// A gateway's snapshot as a scrape.
enum GatewayMetricsPage {
    static func write(_ snapshot: GatewaySnapshot, _ format: Exposition.Format) -> [UInt8] {
        var text = Exposition(format)
        writeProcess(snapshot, &text)
        if let counts = snapshot.counts { writeCalls(counts, &text) }
        if let counts = snapshot.connections { writeConnections(counts, &text) }
        return text.finish()
    }

    private static func writeProcess(_ snapshot: GatewaySnapshot, _ text: inout Exposition) {
        let names = [snapshot.version, LibraryVersion.text, CryptoVersion.openSSL, ""]
        text.write(.buildInfo, [MetricSample(names, whole: 1)])
        text.write(.reloadSuccessful, [MetricSample(flag: snapshot.isReloaded)])
        text.write(.reloadTime, [MetricSample(real: Double(snapshot.reloadedAt) / 1000)])
        text.write(.state, WorkerState.allCases.map { MetricSample([$0.rawValue], flag: $0 == snapshot.state) })
        text.write(snapshot.brokers.figures)
        text.write(snapshot.process)
    }

    private static func writeCalls(_ counts: GatewayCounts, _ text: inout Exposition) {
        let answers = counts.answers.sorted { ($0.key.verb.name, $0.key.code) < ($1.key.verb.name, $1.key.code) }
        text.write(
            .gatewayRequests,
            answers.map { MetricSample([$0.key.verb.name, String($0.key.code)], whole: $0.value) }
        )
        let durations = counts.durations.sorted { $0.key.name < $1.key.name }
        text.write(
            .gatewayDuration,
            durations.map { MetricSample([$0.key.name], .histogram($0.value, unit: 0.001)) }
        )
        text.write(.gatewayWaiting, [MetricSample(whole: counts.waiting)])
        text.write(.gatewayWaitingBytes, [MetricSample(whole: counts.waitingBytes)])
        text.write(
            .gatewayProduceFailures,
            [MetricSample(["no"], whole: counts.notProduced), MetricSample(["maybe"], whole: counts.maybeProduced)]
        )
        text.write(.gatewayDeadlines, [MetricSample(whole: counts.deadlines)])
        text.write(.gatewayWorkerBehind, [MetricSample(whole: counts.workerBehind)])
        text.write(.gatewayForeign, [MetricSample(whole: counts.foreignReplies)])
        text.write(
            .gatewayRejected,
            GatewayCounts.Rejection.allCases.map { MetricSample([$0.rawValue], whole: counts.rejections[$0] ?? 0) }
        )
        text.write(
            .gatewayRefusedTokens,
            VerifyRefusal.allCases.map { MetricSample([$0.rawValue], whole: counts.refusedTokens[$0] ?? 0) }
        )
        let bundles = counts.bundles.sorted { ($0.key.app, $0.key.name) < ($1.key.app, $1.key.name) }
        text.write(.gatewayOwnBundles, bundles.map { MetricSample([$0.key.app, $0.key.name], whole: $0.value) })
        text.write(.gatewayBundles, [MetricSample(whole: counts.foreignBundles)])
        text.write(.gatewayDroppedEvents, [MetricSample(whole: counts.droppedEvents)])
        if let offset = counts.clockOffset { text.write(.gatewayClock, [MetricSample(real: Double(offset) / 1000)]) }
    }

    private static func writeConnections(_ counts: HTTPCallCounts, _ text: inout Exposition) {
        text.write(.gatewayConnections, [MetricSample(whole: counts.openConnections)])
        text.write(.gatewayReadBytes, [MetricSample(whole: counts.readBytes)])
        text.write(
            .gatewayMalformed,
            HTTPRefusalKind.allCases.map { MetricSample([$0.rawValue], whole: counts.refused[$0] ?? 0) }
        )
        text.write(.gatewaySlow, [MetricSample(whole: counts.timedOut)])
    }
}
