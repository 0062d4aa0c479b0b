internal import SimulationKit

/// Shrinks a failing seed while it fails in the same way, and prints its story.
package struct ServiceShrink {
    private static let mostRuns = 80
    private static let mostLines = 40

    private let shared: ServiceWorld.Shared
    /// The promise's name: the complaint up to its colon.
    private let kind: Substring
    private(set) var plan: ServicePlan
    private var runs = 0

    package init(_ plan: ServicePlan, _ complaint: String, _ shared: ServiceWorld.Shared) throws {
        (self.plan, self.shared, kind) = (plan, shared, Self.kind(complaint))
        while runs < Self.mostRuns, try makeSmaller() {}
    }

    private static func kind(_ complaint: String) -> Substring { complaint.prefix { $0 != ":" } }

    /// - Returns: whether the seed still fails with less.
    private mutating func makeSmaller() throws -> Bool {
        var isSmaller = false
        for change in Self.changes {
            var less = plan
            guard change(&less), runs < Self.mostRuns else { continue }
            runs += 1
            guard try ServiceWorld(less, shared).run().contains(where: { Self.kind($0) == kind }) else { continue }
            (plan, isSmaller) = (less, true)
        }
        return isSmaller
    }

    /// Each leaves out faults, actors or steps, and returns whether there were any.
    private static var changes: [(inout ServicePlan) -> Bool] {
        [
            { plan in
                defer { (plan.fleet.call, plan.fleet.mischief, plan.fleet.stops) = (FaultChances(), 0, 0) }
                return plan.fleet.mischief > 0
            },
            { plan in
                defer { (plan.losesCalls, plan.replays) = (false, false) }
                return plan.losesCalls || plan.replays
            },
            { plan in
                defer { plan.movesTo = nil }
                return plan.movesTo != nil
            },
            { plan in
                defer { plan.fleet.workers = 1 }
                return plan.fleet.workers > 1
            },
            { plan in
                defer { plan.gateways = 1 }
                return plan.gateways > 1
            },
            { plan in
                defer { plan.devices = (plan.devices + 1) / 2 }
                return plan.devices > 1
            },
            { plan in
                defer { plan.fleet.chaosSteps = plan.fleet.chaosSteps * 2 / 3 }
                return plan.fleet.chaosSteps > 60
            },
        ] + ServiceProcedure.allCases.map { procedure in { $0.procedures.remove(procedure) != nil } }
    }

    /// The operator's steps, and the events of the actors that the complaint names, up to it: at most forty lines.
    package func story() throws -> String {
        let world = try ServiceWorld(plan, shared)
        world.tellStory()
        let complaint = world.run().first { Self.kind($0) == kind } ?? "nothing"
        let end = world.story.firstIndex { $0.contains("complaint: ") } ?? world.story.endIndex
        let lines = Array(world.story[..<end])
        let words = complaint.split { " ,;:".contains($0) }
        let actors = words.filter { $0.contains("-") && $0.last?.isNumber == true }
        let things = words.filter { $0.contains("/") || $0.count == 8 && !$0.allSatisfy(\.isLowercase) }
        let steps = lines.indices.filter { lines[$0].contains(" operator: ") }.suffix(Self.mostLines / 3)
        let others = lines.indices
            .filter { line in
                actors.contains { lines[line].contains(" \($0): ") } || things.contains { lines[line].contains($0) }
            }
            .suffix(Self.mostLines - 2 - steps.count)
        let told = Set(steps).union(others).sorted().map { lines[$0] }
        let head =
            "seed \(plan.seed) with \(plan.gateways) gateways, \(plan.devices) devices, \(plan.fleet.workers) workers:"
        return ([head] + told + [complaint]).joined(separator: "\n")
    }
}
