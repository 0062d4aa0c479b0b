import Foundation
import ServiceKit
import Testing

/// The whole service under seeds. `SERVICE_SEED=n` tells one seed's whole story, `SIM_FIRST` and `SIM_SEEDS` say which run.
@Suite("The whole service under a seed")
struct ServiceTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    private static let first = number("SIM_FIRST") ?? 1
    /// Three seeds for ten of `SIM_SEEDS`.
    private static let count = number("SIM_SEEDS").map { max(40, $0 * 3 / 10) } ?? 40
    private static let one = number("SERVICE_SEED")

    @Test(.disabled(if: one != nil)) func `what the pages promise holds, and each step is met`() throws {
        let shared = try ServiceWorld.Shared()
        var met: [String: Int] = [:]
        for seed in Self.first..<Self.first + Self.count {
            let plan = ServicePlan.rough(seed: seed)
            let world = try ServiceWorld(plan, shared)
            let complaints = world.run()
            met.merge(world.met, uniquingKeysWith: +)
            guard let complaint = complaints.first else { continue }
            Issue.record("\(try ServiceShrink(plan, complaint, shared).story())")
        }
        // Few seeds ban or forget a key: a device must have one first.
        for procedure in ServiceProcedure.allCases where Self.count >= 1_000 {
            #expect(met["\(procedure)", default: 0] * 1_000 >= Self.count, "\(procedure) is rare")
        }
        for (thing, least) in [("accepted", Self.count), ("consumed", Self.count), ("debug tokens", 0)] {
            #expect(met[thing, default: 0] > least, "tokens are \(thing)")
        }
    }

    @Test(.enabled(if: one != nil)) func `one seed's story`() throws {
        let world = try ServiceWorld(.rough(seed: Self.one ?? 0), ServiceWorld.Shared())
        world.tellStory()
        let complaints = world.run()
        print(world.story.joined(separator: "\n"), "what the library did", world.trace.joined(separator: "\n"))
        #expect(complaints.isEmpty, "\(complaints)")
    }

    @Test func `the same seed has the same story`() throws {
        let shared = try ServiceWorld.Shared()
        let stories = try (0..<2).map { _ in
            let world = try ServiceWorld(.rough(seed: Self.first), shared)
            world.tellStory()
            _ = world.run()
            return world.story
        }
        #expect(stories[0] == stories[1] && stories[0].count > 20)
    }
}
