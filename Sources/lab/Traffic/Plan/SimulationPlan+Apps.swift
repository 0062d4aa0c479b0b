internal import AppAttest
internal import AppCheck
package import DeviceLab

extension SimulationPlan {
    /// A plan for each app: record i is the plan's record i / n.
    package static func plans(_ apps: [SimulatedApp], _ ca: LabCA, _ settings: SimulationSettings) -> [SimulationPlan] {
        apps.enumerated().map { index, app in
            var plan = FleetPlan(
                ca: ca,
                seed: settings.seed &+ UInt64(index) &* 0x9E37_79B9_7F4A_7C15,
                appIDs: app.appleAppIDs,
                devices: share(settings.devices, index, apps.count),
                records: share(settings.records, index, apps.count),
                start: EvaluationTime(milliseconds: settings.start + Int64(index) * settings.interval / 1_000_000)
            )
            plan.environment = app.environment
            plan.shapes = app.shapes
            plan.category = app.category
            plan.bundleVersion = app.bundleVersion
            if case .bytes(let bytes) = app.registered.clientDataHash { plan.clientDataHashBytes = bytes }
            plan.kinds = Set(settings.verbs.map { $0.bringsAttestation ? .attestation : .assertion })
            plan.faultShare = settings.faultShare
            plan.brokerShare = settings.brokerShare
            plan.nanosecondsApart = settings.interval * Int64(apps.count)
            return SimulationPlan(
                app: app,
                fleet: FakeFleet(plan),
                verbs: settings.verbs,
                challengeLife: settings.challengeLife
            )
        }
    }

    /// How many of `total` things one of `count` gets when they take turns.
    private static func share(_ total: Int, _ index: Int, _ count: Int) -> Int {
        total / count + (index < total % count ? 1 : 0)
    }
}
