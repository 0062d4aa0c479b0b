import Broker
import BrokerKit
import ChaosKit
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
}
