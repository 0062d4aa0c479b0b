import Foundation
import SimulationKit
import Testing

/// A line of `Seeds.txt`: a seed that once failed stays in the landing, however few seeds a campaign runs.
private struct OnceFailed: Sendable {
    let delivery: SimulationPlan.Delivery
    let commands: Double
    let seed: UInt64
    let showed: String

    private struct Malformed: Error { let line: Substring }

    init(line: Substring) throws {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        guard fields.count == 3, let seed = UInt64(fields[1]), !fields[2].isEmpty else { throw Malformed(line: line) }
        let campaign = fields[0].split(separator: "+", omittingEmptySubsequences: false)
        switch campaign.first {
        case "exactly-once": delivery = .exactlyOnce
        case "at-least-once": delivery = .atLeastOnce
        default: throw Malformed(line: line)
        }
        guard campaign.count == 1 || (campaign.count == 2 && campaign[1] == "commands") else {
            throw Malformed(line: line)
        }
        commands = campaign.count == 2 ? 0.25 : 0
        self.seed = seed
        showed = String(fields[2])
    }

    static func read(_ text: String) throws -> [OnceFailed] {
        try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(OnceFailed.init)
    }
}

@Suite("Seeds that once failed")
struct SeedsTests {
    private static let traffic = Result { try FleetTraffic(.imitated) }

    private static let listed = Result {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Seeds.txt")
        return try OnceFailed.read(String(contentsOf: file, encoding: .utf8))
    }

    @Test func `no listed seed fails again`() throws {
        let seeds = try Self.listed.get()
        #expect(!seeds.isEmpty)
        for line in seeds {
            let campaign = try FleetCampaign(
                try Self.traffic.get(),
                delivery: line.delivery,
                commands: line.commands
            )
            let complaints = try campaign.run(line.seed).complaints
            #expect(complaints.isEmpty, "seed \(line.seed), which showed: \(line.showed): \(complaints.prefix(5))")
        }
    }

    @Test func `a line has a campaign, a seed and what it showed`() throws {
        let line = try #require(try OnceFailed.read("# a comment\n\nat-least-once+commands\t7\tA ban moved\n").first)
        #expect(line.delivery == .atLeastOnce && line.commands > 0 && line.seed == 7 && line.showed == "A ban moved")
        let wrong = [
            "exactly-once\t7", "exactly-once\tseven\tx", "twice\t7\tx", "exactly-once+\t7\tx", "exactly-once\t7\t",
        ]
        for line in wrong { #expect(throws: (any Error).self) { try OnceFailed.read(line) } }
    }
}
