import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import Testing

@testable import Commands

/// Commands that write the ledger, behind a network whose late frames end transactions.
@Suite(
    .brokerTests,
    .cluster(.behindNetwork),
    .serialized
)
struct LedgerRepeatTests {
    @Test func `a late commit of an import's transaction does not end its next one`() throws {
        let network = try #require(RealClusterTrait.cluster?.network)
        let workplace = try ProgramWorkplace("import-late") {
            $0.kafka.append(("bootstrap.servers", network.bootstrapServers))
        }
        let access = try workplace.access
        let writer = try LedgerWriter(access, transactionRecords: 2)
        try writer.open()
        let ends = try LedgerReader(access, partitions: workplace.partitions).readSettled { _ in }
        var fault = NetworkFault(.hold(.behindNext(.produce)), .endTransaction)
        (fault.isCommit, fault.transactionalID) = (true, try access.transactionalID())
        let number = network.plan(fault)
        let records = (0..<6 as Range<UInt8>).map {
            LedgerRecord(partition: Int32($0 % 3), key: [99, $0], value: [1])
        }
        var rest = records[...]
        try writer.write(from: ends) { rest.popFirst() }
        #expect(writer.written == 6)
        let frame = try #require(network.events.held.first { $0.fault == number })
        // INVALID_PRODUCER_EPOCH
        #expect(frame.metLaterTransaction && frame.errorCode == 47, "\(frame)")
        let written = try workplace.liveLedgerKeys()
        #expect(written == Dictionary(grouping: records, by: \.partition).mapValues { Set($0.map(\.key)) })
    }
}
