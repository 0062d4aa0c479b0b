import AppAttest
import AppCheck
import DeviceLab
import Testing
import Traffic

/// Shared by the tests of this folder: one authority, one time, apps that any fake device satisfies.
enum TrafficLab {
    static let ca = LabCA(seed: 1)
    static let noon = EvaluationTime(milliseconds: 1_791_806_400_000)

    static func apps(_ count: Int) throws -> [SimulatedApp] {
        try (0..<count).map { number in
            let expectations = Expectations(appIDs: [AppID("T.app\(number)")])
            let app = RegisteredApp(
                projectNumber: "1",
                projectID: "lab",
                appID: "app-\(number)",
                expectations: expectations
            )
            return try #require(SimulatedApp(app))
        }
    }

    static func fleet(
        _ apps: [SimulatedApp],
        _ devices: Int,
        _ wishes: [StockMember.Wish],
        _ link: any StockLink,
        checksTokens: Bool = true
    ) -> StockFleet {
        let members = StockFleet.members(
            apps,
            ca: ca,
            devices: devices,
            seed: 3,
            wishes: wishes,
            checksTokens: checksTokens
        )
        return StockFleet(members, link: link, prefix: "fleet")
    }

    /// A topic whose keys go where their first byte says.
    static func topic(partitions: Int32) -> RequestTopic {
        RequestTopic(name: "requests", partitions: partitions) { Int32($0.first ?? 0) % partitions }
    }
}

extension StockFleet {
    /// Lets the clients go on, a millisecond a step.
    func serve(steps: Int, from time: EvaluationTime = TrafficLab.noon) throws {
        for step in 0..<steps where !isDone {
            try self.step(at: EvaluationTime(milliseconds: time.milliseconds + Int64(step)), milliseconds: 0)
        }
    }
}
