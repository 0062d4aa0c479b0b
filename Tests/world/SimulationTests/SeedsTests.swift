import Foundation
import Testing

/// A line of `Seeds.txt`: a seed that once failed stays in the landing, however few seeds a campaign runs.
private struct OnceFailed: Sendable {
    private static let campaigns: [Substring: MutantCampaign] = [
        "exactly-once": .exactlyOnce, "exactly-once+commands": .commands, "exactly-once+receipts": .receipts,
        "at-least-once": .atLeastOnce, "at-least-once+commands": .commandsAtLeastOnce,
        "at-least-once+receipts": .receiptsAtLeastOnce, "refreshers": .refreshers, "readers": .readers,
    ]

    let campaign: MutantCampaign
    let seed: UInt64
    let showed: String

    private struct Malformed: Error { let line: Substring }

    init(line: Substring) throws {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        guard fields.count == 3, let campaign = Self.campaigns[fields[0]], let seed = UInt64(fields[1]),
            !fields[2].isEmpty
        else { throw Malformed(line: line) }
        (self.campaign, self.seed, showed) = (campaign, seed, String(fields[2]))
    }

    static func read(_ text: String) throws -> [OnceFailed] {
        try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(OnceFailed.init)
    }
}

@Suite("Seeds that once failed")
struct SeedsTests {
    @Test func `no listed seed fails again`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Seeds.txt")
        let lines = try OnceFailed.read(String(contentsOf: file, encoding: .utf8))
        #expect(!lines.isEmpty)
        for line in lines {
            try line.campaign.complaints(line.seed...line.seed) { seed, complaints in
                #expect(complaints.isEmpty, "seed \(seed), which showed: \(line.showed): \(complaints.prefix(5))")
                return true
            }
        }
    }

    @Test func `a line has a campaign, a seed and what it showed`() throws {
        let line = try #require(try OnceFailed.read("# a comment\n\nat-least-once+commands\t7\tA ban moved\n").first)
        #expect(line.campaign == .commandsAtLeastOnce && line.seed == 7 && line.showed == "A ban moved")
        let wrong = [
            "exactly-once\t7", "exactly-once\tseven\tx", "twice\t7\tx", "exactly-once+\t7\tx",
            "exactly-once+plain\t7\tx", "exactly-once\t7\t", "refreshers+commands\t7\tx",
        ]
        for line in wrong { #expect(throws: (any Error).self) { try OnceFailed.read(line) } }
    }
}
