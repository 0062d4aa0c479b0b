import BrokerKit
import ChaosKit
import Foundation
import Streams
import Testing

/// A worker of an earlier version beside workers that keep receipts, as in a rolling upgrade and on the way back.
extension RefreshTests {
    /// The site's configuration as a version without the fraud metric takes it.
    private static func earlierConfiguration(_ site: RefreshSite) throws -> String {
        let folder = try site.workplace.copyConfig(as: "earlier")
        for name in ["worker.json", "apps.json"] {
            try site.workplace.rewrite(name, of: "earlier") { site.additions.reduce($0) { $0.replacing($1, with: "") } }
        }
        return folder
    }

    @Test(.enabled(if: OtherVersion.program != nil, "\(OtherVersion.whyMissing)"))
    func `an earlier version shares the group of workers that keep receipts, forward and back`() throws {
        let site = try Self.site("mixed")
        try site.createTopics()
        let earlier = try Self.earlierConfiguration(site)
        let traffic = try RefreshTraffic(site)
        try site.apple.serve()
        var (refresher, workers) = (try site.refresher("r1"), [String: ProgramProcess]())
        func replace(_ name: String, isEarlier: Bool) throws {
            if let before = workers[name] { before.expectEnd(seconds: 60) }
            let arguments = ["run", "--config", earlier, "--instance", name]
            workers[name] =
                isEarlier
                ? try ProgramProcess(arguments, in: site.workplace.folder, program: OtherVersion.program)
                : try site.worker(name)
            #expect(try site.workplace.hasMembers(workers.count), "\(workers.values.map(\.error))")
        }
        func settle() throws {
            try traffic.flush()
            #expect(try Self.settles(site, workers.values + [refresher]), "\(refresher.error)")
        }
        for (name, isEarlier) in [("one", true), ("two", true), ("two", false), ("one", false), ("one", true)] {
            try replace(name, isEarlier: isEarlier)
            try traffic.attest(6)
            try settle()
            try traffic.assert(traffic.devices.indices)
            try settle()
        }
        // The way back comes before the exchanges of the last receipts.
        refresher.expectEnd(seconds: 60)
        try traffic.attest(6)
        try traffic.flush()
        #expect(try site.workplace.drains())
        try replace("two", isEarlier: true)
        refresher = try site.refresher("r1")
        try settle()
        try traffic.assert(traffic.devices.indices)
        try settle()
        for process in [refresher] + workers.values { process.expectEnd(seconds: 60) }
        #expect(workers.values.allSatisfy { !$0.error.contains("is held") })

        // What an earlier version takes is an exchange lost, and nothing else.
        let ofReceipts = ["accepted", "accepted (duplicate)", "unknown-method", "receipt:superseded"]
        let outcomes = try Outcomes(of: site.workplace)
        for (place, outcome) in outcomes.summaries {
            let request = String(decoding: outcomes.requests[place]?.value ?? [], as: UTF8.self)
            let isReceipt = request.contains(":verifyReceipt")
            #expect(isReceipt ? ofReceipts.contains(outcome) : outcome == "accepted", "\(place): \(outcome)")
        }
        #expect(outcomes.counts["unknown-method"] != nil)
        // An earlier version reads keys with a metric, and drops it with the key's next write.
        let evidence = try RefreshEvidence(site)
        #expect(evidence.shown > 0 && evidence.found.values.count(where: \.isKnown) == traffic.devices.count)
        #expect(evidence.found.values.allSatisfy { $0.metric == nil }, "\(evidence.found)")
    }
}
