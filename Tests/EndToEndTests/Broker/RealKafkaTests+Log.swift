import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import KafkaPorts
import Log
import Settings
import Testing

/// Behaviour of an exactly-once log alone, and how it differs from an at-least-once log.
extension RealKafkaTests {
    private func fixture(_ prefix: String, requests: Int = 30) throws -> RealFixture {
        let fixture = try RealFixture(prefix)
        _ = try fixture.create()
        #expect(try LogDriver.publish(requests, to: fixture.names.requests, fixture.properties).isComplete)
        return fixture
    }

    /// An abort between two requests that add partitions once ended the process inside librdkafka.
    @Test func `aborts at any moment after the first record end their transactions, and the process goes on`() throws {
        let fixture = try fixture("aborts")
        let driver = try LogDriver(.exactlyOnce, fixture.settings("one"))
        for round in 0..<15 {
            let batch = try driver.records(30)
            driver.fail(batch, batch.outputs(.results, .ledger), after: 1 + round * 4)
            try driver.log.unit.abort()
        }
        let again = try driver.records(30)
        try driver.commit(again, again.outputs(.results, .ledger))
        #expect(try fixture.values(of: .results).count == 30)
        try driver.log.close()
    }
}
