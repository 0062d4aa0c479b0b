package import Testing

/// Starts one cluster for a whole suite and stops it at the end, however the suite ends.
package struct RealClusterTrait: SuiteTrait, TestScoping {
    @TaskLocal package static var cluster: RealCluster?

    let settings: ClusterSettings
    let isLong: Bool

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        let cannotMount = settings.diskMegabytes != nil && !RealCluster.canMountDisks
        guard let installation = KafkaInstallation.ofTests, !cannotMount else { return try await function() }
        try await BrokerTurn.run(weight: settings.brokers > 1 ? 2 : 1, isLong: isLong) {
            let cluster = try RealCluster(installation, settings)
            defer { cluster.stop() }
            try await Self.$cluster.withValue(cluster) { try await function() }
        }
    }
}

extension Trait where Self == RealClusterTrait {
    /// One cluster for the suite, of one broker unless the settings say more; see ``RealClusterTrait``.
    ///
    /// - Parameter isLong: for a suite that takes many minutes.
    package static func cluster(_ settings: ClusterSettings = .init(), isLong: Bool = false) -> Self {
        RealClusterTrait(settings: settings, isLong: isLong)
    }
}

extension Trait where Self == ConditionTrait {
    /// A suite that starts real brokers: see ``KafkaInstallation/ofTests``.
    package static var brokerTests: Self {
        .enabled(if: KafkaInstallation.ofTests != nil, Comment(rawValue: KafkaInstallation.whyNotTested))
    }
}
