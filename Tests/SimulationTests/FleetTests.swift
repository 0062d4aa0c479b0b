import Foundation
import Pipeline
import TestSupport
import Testing

/// Several real loops on one simulated Kafka, thousands of times over.
@Suite("A fleet under a seed")
struct FleetTests {
    private static let imitated = Result { try FleetTraffic(.imitated) }
    private static let real = Result { try FleetTraffic(.real) }

    @Test("timing")
    func timing() throws {
        let campaign = try FleetCampaign(try Self.imitated.get())
        let start = Date()
        var bad = 0
        for seed in 1...100 as ClosedRange<UInt64> {
            let report = try campaign.run(seed)
            if !report.complaints.isEmpty {
                bad += 1
                if bad < 10 { print(seed, report.complaints.prefix(4)) }
            }
        }
        print("bad", bad, "seconds", Date().timeIntervalSince(start), campaign.counts.counts)
    }
}
