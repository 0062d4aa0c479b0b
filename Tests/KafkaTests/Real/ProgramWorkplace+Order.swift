import Broker
import BrokerKit
import Foundation
import Testing

extension ProgramWorkplace {
    /// The worker works everything off, ends in order, and everything is as it should be.
    func expectOrder(of worker: ProgramProcess) throws {
        #expect(try drains(seconds: 90) { worker.isRunning }, "\(worker.error)")
        worker.signal(SIGTERM)
        #expect(worker.waitForEnd() == .exit(0), "\(worker.error)")
        let findings = try reckon()
        #expect(findings.isClean, "\(findings.lines.joined(separator: "\n"))\n\(worker.error)")
    }

    /// Waits until so many results are committed.
    func hasResults(_ count: Int64) throws -> Bool {
        try Patience.wait(60) {
            let ends = try TopicDump.ends(of: topic("results"), properties, partitions: partitions)
            return ends.values.reduce(0) { $0 + $1.committed } >= count
        }
    }
}
