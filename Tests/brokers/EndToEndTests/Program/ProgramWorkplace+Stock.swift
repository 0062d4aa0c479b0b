import AppAttest
import AppCheck
import BrokerKit
import ChaosKit
import Foundation
import JSON
import Kafka
import Settings
import Testing
import Traffic

@testable import Lab

extension ProgramWorkplace {
    /// Twenty stock clients of the configuration's apps, on the topics: each wants a session, and three times a new token of
    /// it and one that is used up.
    func fleet() throws -> StockFleet {
        let rounds: [StockMember.Wish] = [.refresh, .limitedUse, .refresh, .limitedUse, .refresh, .limitedUse]
        let configuration = try Configuration.load(directory: config)
        let members = StockFleet.members(
            configuration.registry.apps.compactMap(SimulatedApp.init),
            ca: try NewConfiguration.authority(of: config),
            devices: 20,
            seed: 7,
            wishes: [.session] + rounds
        )
        let link = try KafkaStockLink(
            properties: properties.pairs.map { ($0.name, $0.value) },
            topics: configuration.topics,
            partitions: partitions
        )
        return StockFleet(members, link: link, prefix: "stock-" + UUID().uuidString)
    }

    /// The ids of the keys that have signed these tokens, each of which the published set verifies.
    func signers(of tokens: [String]) throws -> Set<String> {
        let keySet = Array(try done("jwks").output.utf8)
        let kids = try tokens.map { token in
            let read = try #require(ReadToken(Array(token.utf8)))
            #expect(read.isSigned(by: keySet))
            return try #require(try JSONDocument(parsing: read.header).root["kid"]?.string)
        }
        return Set(kids)
    }
}

extension StockFleet {
    /// Lets the clients finish, and ends the worker: nothing was refused or lost, and each wish came true.
    func finish(with worker: ProgramProcess) throws {
        try serve { isDone || !worker.isRunning }
        try close()
        worker.expectEnd()
        #expect(tally.refused == [:] && tally.faults == [] && tally.lost == 0, "\(tally.refused) \(tally.faults)")
        #expect(tally.minted == 140 && tally.consumed == 60)
    }

    /// Lets the clients go on until something holds.
    func serve(seconds: Int = 120, until holds: () throws -> Bool) throws {
        let isThere = try Deadline.wait(seconds) {
            let now = EvaluationTime(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000))
            try step(at: now, milliseconds: 10)
            return try holds()
        }
        try #require(isThere, "the clients did not come so far: \(tally.calls) calls, \(tally.refused)")
    }
}
