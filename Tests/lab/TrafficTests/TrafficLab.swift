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

    /// A topic whose keys go where their first byte says.
    static func topic(partitions: Int32) -> RequestTopic {
        RequestTopic(name: "requests", partitions: partitions) { Int32($0.first ?? 0) % partitions }
    }
}
