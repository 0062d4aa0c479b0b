extension Exposition {
    package mutating func write(_ figures: BrokerFigures) {
        let brokers = figures.brokers.sorted { $0.key < $1.key }
        write(.brokerUp, brokers.map { MetricSample([$0.key], flag: $0.value.isUp) })
    }

    /// The figures of the process, which each program has.
    package mutating func write(_ process: ProcessFigures) {
        write(.residentMemory, [MetricSample(whole: process.residentBytes)])
        write(.memoryLimit, process.memoryLimit.map { [MetricSample(whole: $0)] } ?? [])
        write(.processorSeconds, [MetricSample(real: process.processorSeconds)])
        write(.startTime, [MetricSample(real: process.startTime)])
        write(.openFiles, [MetricSample(whole: process.openFiles)])
        write(.abandonedClients, [MetricSample(whole: process.abandonedClients)])
        let throttles = process.throttles.sorted { $0.key < $1.key }
        write(.brokerThrottle, throttles.map { MetricSample([$0.key], real: Double($0.value) / 1000) })
    }
}
