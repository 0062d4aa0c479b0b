import Foundation
import RiskKit
import SimulationKit
import Testing

/// A line of `Seeds.txt`: a seed that once failed stays in the landing, however few seeds a campaign runs.
private struct OnceFailed: Sendable {
    /// nil = of refreshers.
    let delivery: SimulationPlan.Delivery?
    /// What is among the requests.
    let mixture: Mixture
    let seed: UInt64
    let showed: String

    enum Mixture: String { case plain, commands, receipts }

    private struct Malformed: Error { let line: Substring }

    init(line: Substring) throws {
        let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
        guard fields.count == 3, let seed = UInt64(fields[1]), !fields[2].isEmpty else { throw Malformed(line: line) }
        let campaign = fields[0].split(separator: "+", omittingEmptySubsequences: false)
        switch campaign.first {
        case "exactly-once": delivery = .exactlyOnce
        case "at-least-once": delivery = .atLeastOnce
        case "refreshers" where campaign.count == 1: delivery = nil
        default: throw Malformed(line: line)
        }
        let named = campaign.dropFirst().joined(separator: "+")
        guard let mixture = campaign.count == 1 ? Mixture.plain : Mixture(rawValue: named),
            campaign.count == 1 || mixture != .plain
        else { throw Malformed(line: line) }
        self.mixture = mixture
        self.seed = seed
        showed = String(fields[2])
    }

    func complaints(_ traffic: FleetTraffic, _ receipts: FleetTraffic) throws -> [String] {
        guard let delivery else { return try RefreshFleet(.rough(seed: seed)).run() }
        let campaign =
            switch mixture {
            case .plain, .commands:
                try FleetCampaign(traffic, delivery: delivery, commands: mixture == .commands ? 0.25 : 0)
            case .receipts: try FleetCampaign.receipts(receipts, delivery: delivery)
            }
        return try campaign.run(seed).complaints
    }

    static func read(_ text: String) throws -> [OnceFailed] {
        try text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(OnceFailed.init)
    }
}

@Suite("Seeds that once failed")
struct SeedsTests {
    private static let traffic = Result { try FleetTraffic(.imitated) }

    private static let receipts = Result { try FleetTraffic(.imitated, keepsReceipts: true) }

    private static let listed = Result {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Seeds.txt")
        return try OnceFailed.read(String(contentsOf: file, encoding: .utf8))
    }

    @Test func `no listed seed fails again`() throws {
        let seeds = try Self.listed.get()
        #expect(!seeds.isEmpty)
        for line in seeds {
            let complaints = try line.complaints(try Self.traffic.get(), try Self.receipts.get())
            #expect(complaints.isEmpty, "seed \(line.seed), which showed: \(line.showed): \(complaints.prefix(5))")
        }
    }

    @Test func `a line has a campaign, a seed and what it showed`() throws {
        let line = try #require(try OnceFailed.read("# a comment\n\nat-least-once+commands\t7\tA ban moved\n").first)
        #expect(
            line.delivery == .atLeastOnce && line.mixture == .commands && line.seed == 7 && line.showed == "A ban moved"
        )
        let wrong = [
            "exactly-once\t7", "exactly-once\tseven\tx", "twice\t7\tx", "exactly-once+\t7\tx",
            "exactly-once+plain\t7\tx", "exactly-once\t7\t", "refreshers+commands\t7\tx",
        ]
        let receipts = try #require(try OnceFailed.read("exactly-once+receipts\t7\tA receipt stayed").first)
        #expect(receipts.delivery == .exactlyOnce && receipts.mixture == .receipts)
        for line in wrong { #expect(throws: (any Error).self) { try OnceFailed.read(line) } }
    }
}
