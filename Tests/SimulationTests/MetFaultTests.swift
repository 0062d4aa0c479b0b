import SimulationKit
import Testing

@Suite("Faults that campaigns meet")
struct MetFaultTests {
    /// A former leader's ends would hold partitions until the next assignment, so none is asked; and a member answers an
    /// assignment in the call that tells of it, so no revocation waits behind one.
    private static let never: Set<FaultKind> = [.staleLeader, .revokeHidden]
    /// Offsets are committed beside the outputs at least once only.
    private static let onlyAtLeastOnce: Set<FaultKind> = [.offsetCommitUnanswered]

    @Test func `300 seeds meet every fault of clients and of the world five times`() throws {
        let campaign = try FleetCampaign(try FleetTraffic(.imitated))
        for seed in 1...300 as ClosedRange<UInt64> { _ = try campaign.run(seed) }
        for kind in FaultKind.ofClients.union(FaultKind.ofWorld).subtracting(Self.onlyAtLeastOnce) {
            let count = campaign.counts.counts[kind] ?? 0
            #expect(Self.never.contains(kind) ? count == 0 : count >= 5, "\(kind.rawValue): \(count)")
        }
    }
}
