package import Testing

/// Starts one real broker for a whole suite and stops it at the end, however the suite ends.
package struct RealKafkaTrait: SuiteTrait, TestScoping {
    @TaskLocal package static var broker: RealKafka?

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        guard let installation = KafkaInstallation.ofTests else { return try await function() }
        try await BrokerTurn.run(weight: 1) {
            let broker = try RealKafka(installation)
            defer { broker.stop() }
            try await Self.$broker.withValue(broker) { try await function() }
        }
    }
}

extension Trait where Self == RealKafkaTrait {
    /// One real broker for the suite; see ``RealKafkaTrait``.
    package static var realKafka: Self { RealKafkaTrait() }
}

extension Trait where Self == ConditionTrait {
    /// A suite that starts real brokers: see ``KafkaInstallation/ofTests``.
    package static var brokerTests: Self {
        .enabled(if: KafkaInstallation.ofTests != nil, Comment(rawValue: KafkaInstallation.whyNotTested))
    }
}
