internal import AppCheck
package import DeviceLab

extension StockFleet {
    /// Members of all apps in turn; each app's OAuth clients come in addition to the app itself.
    ///
    /// - Parameters:
    ///   - wishes: of each member; OAuth clients get limited-use wishes only.
    ///   - checksTokens: whether the apps' backends use limited-use tokens up.
    package static func members(
        _ apps: [SimulatedApp],
        ca: LabCA,
        devices: Int,
        seed: UInt64,
        wishes: [StockMember.Wish],
        checksTokens: Bool = true
    ) -> [StockMember] {
        var settings = SimulationSettings(devices: devices, records: devices)
        settings.seed = seed
        let plans = SimulationPlan.plans(Array(apps.prefix(devices)), ca, settings)
        return (0..<devices).map { number in
            let (turn, which) = number.quotientAndRemainder(dividingBy: plans.count)
            let app = plans[which].app.registered
            let device = plans[which].fleet.device(turn)
            let choice = turn % (app.oauthClientIDs.count + 1)
            let resource =
                choice == 0
                ? StockClient.resource(projectID: app.projectID ?? app.projectNumber, appID: app.appID)
                : StockClient.resource(oauthClientID: app.oauthClientIDs[choice - 1])
            return StockMember(
                client: StockClient(device.model, resource: resource, seed: device.seed),
                app: app,
                wishes: choice == 0 ? wishes : wishes.map { _ in .limitedUse },
                checksTokens: checksTokens
            )
        }
    }
}
