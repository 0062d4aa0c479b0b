import Kafka
import KafkaPorts
import Pipeline
import Settings
import Streams
import Testing

@testable import Broker

/// The message for a missing right, by the library's error.
struct AccessRightsTests {
    private static let settings = BrokerSettings(
        properties: [("group.id", "g")],
        topics: TopicNames(
            requests: "a.requests",
            outputs: [
                .results: "a.results", .tokens: "a.tokens", .events: "a.events", .deadLetters: "a.dead-letters",
                .ledger: "a.ledger",
            ]
        ),
        instanceName: "one",
        membership: .static
    )

    private static let refusal = KafkaFault(code: 29, name: "TOPIC_AUTHORIZATION_FAILED", message: "")

    @Test(arguments: ["results", "dead-letters", "ledger"])
    func `a transaction that fails while it sends offsets is reported with the refused topic`(name: String) throws {
        let fault = Self.refusal.with(message: "sending offsets of a.requests: Failed to add partition(s)")
            .refusing(topic: "a.\(name)")
        let explained = try AccessRights(Self.settings).explained(fault)
        #expect(explained.message.hasSuffix(": the right Write on topic a.\(name) is missing"), "\(explained)")
    }

    @Test func `a refused topic that the message names is reported by that name`() throws {
        let fault = Self.refusal.with(message: "producing to a.results: Topic authorization failed")
        let explained = try AccessRights(Self.settings).explained(fault)
        #expect(explained.message.hasSuffix(": the right Write on topic a.results is missing"), "\(explained)")
    }

    @Test func `a fault keeps its refused topic when it is rejudged or reworded`() {
        let fault = Self.refusal.refusing(topic: "t").with(isFatal: true, requiresAbort: true).with(
            message: "other words"
        )
        #expect(fault.refusedTopic == "t" && fault.isFatal && fault.requiresAbort)
    }
}
