import BrokerKit
import ChaosKit
import Foundation
import TestKit
import Testing

extension RunProgramTests {
    /// The value of a series of a worker's page; nil = there is none.
    private static func value(_ series: String, _ port: Int) -> Double? {
        Curl.page(port, "/metrics").body.split(separator: "\n").lazy.compactMap { line -> Double? in
            line.hasPrefix(series + " ") ? Double(line.dropFirst(series.count + 1)) : nil
        }.first
    }

    private static func copies(_ workplace: ProgramWorkplace) -> [String] {
        let all = FileManager.default.enumerator(atPath: workplace.config + "/state")?.compactMap { $0 as? String }
        return (all ?? []).filter { $0.hasSuffix(".snapshot") }.sorted()
    }

    @Test func `a worker that was killed goes on from its copies, and from the topic where one is damaged or foreign`()
        throws
    {
        let port = try Int(BrokerPorts.freePort())
        let workplace = try ProgramWorkplace("copies") {
            $0.members = #""state": {"snapshots": true}, "batch": {"records": 50}, "metrics": {"port": \#(port)},"#
        }
        var total = 0
        func work(_ seed: Int) throws -> ProgramProcess {
            try workplace.simulate(devices: 30, records: 600, seed: seed)
            total += 600
            let worker = try workplace.start("run", "--instance", "one")
            #expect(try workplace.hasOutcomes(total, of: [worker]), "\(worker.error)")
            return worker
        }
        let first = try work(1)
        #expect(Self.value(#"attest_ledger_restores_total{source="topic"}"#, port) == Double(workplace.partitions))
        #expect(eventually({ Self.copies(workplace).count }, until: { $0 == Int(workplace.partitions) }))
        let made = Self.value(#"attest_ledger_snapshot_timestamp_seconds{partition="0"}"#, port)
        #expect(made != nil)
        first.signal(SIGKILL)
        _ = first.waitForEnd()
        // Of one the bytes are damaged in the middle, and one is another's.
        let second = try work(2)
        #expect(
            Self.value(#"attest_ledger_snapshot_timestamp_seconds{partition="0"}"#, port) == made,
            "it is not made again"
        )
        #expect(Self.value(#"attest_ledger_restores_total{source="snapshot"}"#, port) == Double(workplace.partitions))
        #expect(!second.error.contains("restored from the topic, not"), "\(second.error)")
        second.expectEnd()
        let copies = Self.copies(workplace).map { "config/state/\($0)" }
        var bytes = Array(try #require(FileManager.default.contents(atPath: workplace.file(copies[0]))))
        bytes[bytes.count / 2] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: workplace.file(copies[0])))
        try FileManager.default.removeItem(atPath: workplace.file(copies[1]))
        try FileManager.default.copyItem(atPath: workplace.file(copies[2]), toPath: workplace.file(copies[1]))
        let third = try work(3)
        let snapshots = Double(workplace.partitions) - 2
        #expect(Self.value(#"attest_ledger_restores_total{source="snapshot"}"#, port) == snapshots, "\(third.error)")
        #expect(third.error.contains("restored from the topic, not from its copy"), "\(third.error)")
        third.expectEnd()
        let outcomes = try Outcomes(of: workplace)
        #expect(outcomes.counts["accepted"] == total, "\(outcomes.counts)")
    }
}
