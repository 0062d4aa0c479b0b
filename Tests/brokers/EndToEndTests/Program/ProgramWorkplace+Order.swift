import Broker
import BrokerKit
import ChaosKit
import Foundation
import Testing

extension ProgramWorkplace {
    /// Every request has its one outcome, and topics and ledger are what the outcomes say.
    func expectClean(location: SourceLocation = #_sourceLocation) throws {
        let findings = try reckon()
        #expect(findings.isClean, "\(findings.lines.joined(separator: "\n"))", sourceLocation: location)
    }

    /// The worker works everything off, ends in order, and everything is as it should be.
    func expectOrder(of worker: ProgramProcess) throws {
        #expect(try drains(seconds: 90) { worker.isRunning }, "\(worker.error)")
        worker.expectEnd()
        try expectClean()
    }
}
