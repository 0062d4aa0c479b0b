import Member
import Pipeline
import SimulationKit
import Testing

#if DEBUG
    /// A simulation that finds nothing proves nothing: planted bugs must not go by.
    @Suite("Planted bugs")
    struct SabotageTests {
        private static let traffic = Result { try FleetTraffic(.imitated) }
        private static let most: UInt64 = 400

        /// The first seed that complains.
        private static func firstCatch(_ change: (inout SimulationPlan) -> Void) throws -> UInt64? {
            let campaign = try FleetCampaign(try traffic.get())
            for seed in 1...most {
                let complaints = try campaign.run(seed, change: change).complaints
                guard complaints.isEmpty else {
                    print("caught at seed \(seed): \(complaints.prefix(3).joined(separator: "; ").prefix(200))")
                    return seed
                }
            }
            return nil
        }

        @Test(arguments: Sabotage.allCases)
        func `the simulation catches a bug of the loop`(sabotage: Sabotage) throws {
            let seed = try Self.firstCatch { $0.sabotage = sabotage }
            #expect(seed != nil, "\(sabotage) went by for \(Self.most) seeds")
        }

        @Test(arguments: MemberSabotage.allCases)
        func `the simulation catches a bug of the member`(sabotage: MemberSabotage) throws {
            let seed = try Self.firstCatch {
                $0.memberSabotage = sabotage
            }
            #expect(seed != nil, "\(sabotage) went by for \(Self.most) seeds")
        }
    }
#endif
