import BrokerKit
import ChaosKit
import Foundation
import Testing

/// A worker of an earlier version beside workers that keep receipts, as in a rolling upgrade and on the way back.
extension RefreshTests {
    /// The site's configuration as a version without the fraud metric takes it.
    private static func earlierConfiguration(_ site: RefreshSite) throws -> String {
        let folder = site.workplace.folder + "/earlier"
        try FileManager.default.copyItem(atPath: site.workplace.config, toPath: folder)
        try edit(folder + "/worker.json") { worker in
            worker["risk"] = nil
            var topics = worker["topics"] as? [String: Any] ?? [:]
            topics["receipts"] = nil
            worker["topics"] = topics
        }
        try edit(folder + "/apps.json") { root in
            let projects = root["projects"] as? [[String: Any]] ?? []
            root["projects"] = projects.map { project in
                project.merging(["apps": (project["apps"] as? [[String: Any]] ?? []).map(withoutRisk)]) { $1 }
            }
        }
        return folder
    }

    private static func withoutRisk(_ app: [String: Any]) -> [String: Any] { app.filter { $0.key != "risk" } }

    private static func edit(_ path: String, _ change: (inout [String: Any]) -> Void) throws {
        let url = URL(filePath: path)
        var root = try #require(JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
        change(&root)
        try JSONSerialization.data(withJSONObject: root, options: .withoutEscapingSlashes).write(to: url)
    }

    @Test(.enabled(if: OtherVersion.program != nil, "\(OtherVersion.whyMissing)"))
    func `an earlier version shares the group of workers that keep receipts, forward and back`() throws {
        let site = try Self.site("mixed")
        try site.createTopics()
        let earlier = try Self.earlierConfiguration(site)
        let traffic = try RefreshTraffic(site)
        let apple = try site.apple()
        var (refresher, workers) = (try site.refresher("r1"), [String: ProgramProcess]())
        func replace(_ name: String, isEarlier: Bool) throws {
            if let before = workers[name] { Self.end(before) }
            let arguments = ["run", "--config", earlier, "--instance", name]
            workers[name] =
                isEarlier
                ? try ProgramProcess(arguments, in: site.workplace.folder, program: OtherVersion.program)
                : try site.worker(name)
            #expect(try site.workplace.hasMembers(workers.count), "\(workers.values.map(\.error))")
        }
        func settle() throws {
            try traffic.flush()
            #expect(try Self.settles(site, workers.values + [apple, refresher]), "\(refresher.error)")
        }
        for (name, isEarlier) in [("one", true), ("two", true), ("two", false), ("one", false), ("one", true)] {
            try replace(name, isEarlier: isEarlier)
            try traffic.attest(6)
            try settle()
            try traffic.assert(traffic.devices.indices)
            try settle()
        }
        // The way back comes before the exchanges of the last receipts.
        Self.end(refresher)
        let watch = site.workplace.drainWatch()
        try traffic.attest(6)
        try traffic.flush()
        #expect(Deadline.wait(60) { (try? watch.isDrained()) == true && watch.committed > 0 })
        try replace("two", isEarlier: true)
        refresher = try site.refresher("r1")
        try settle()
        try traffic.assert(traffic.devices.indices)
        try settle()
        for process in [refresher, apple] + workers.values { Self.end(process) }
        #expect(workers.values.allSatisfy { !$0.error.contains("is held") })

        let evidence = try RefreshEvidence(site)
        #expect(evidence.strays == [] && evidence.steps.count == traffic.devices.count)
        for (key, steps) in evidence.steps {
            for step in steps {
                if case .receipt = step.request {
                    // What an earlier version takes is an exchange lost, and nothing else.
                    let reasons = ["unknown-method", "receipt:superseded"]
                    #expect(step.isAccepted || reasons.contains(step.reason ?? ""), "\(key): \(step)")
                } else {
                    #expect(step.isAccepted && !step.isDuplicate, "\(key): \(step)")
                }
            }
        }
        let answered = evidence.steps.values.flatMap { $0 }
        #expect(answered.contains { $0.reason == "unknown-method" })
        #expect(answered.contains { $0.isAccepted && $0.metric != nil })
        #expect(evidence.steps.values.contains { $0.contains { $0.request == .assertion && $0.shown != nil } })
        // An earlier version reads keys with a metric, and drops it with the key's next write.
        #expect(evidence.ledger.count == traffic.devices.count)
        #expect(evidence.ledger.values.allSatisfy { $0 == nil }, "\(evidence.ledger)")
    }
}
