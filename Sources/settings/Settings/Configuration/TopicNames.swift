package import Streams

/// The names of the six topics, and of the optional ones where there are any.
package struct TopicNames: Sendable, Equatable {
    package var requests: String
    package var outputs: [OutputTopic: String]

    /// - Parameter outputs: a name for each of ``Streams/OutputTopic/required``, and for each optional topic that there is.
    package init(requests: String, outputs: [OutputTopic: String]) {
        (self.requests, self.outputs) = (requests, outputs)
    }

    /// The requests first, then the outputs in their own order.
    package var all: [String] { [requests] + OutputTopic.allCases.compactMap { outputs[$0] } }

    /// The topics that need the same number of partitions; ``replies`` has its own number.
    package var aligned: [String] { all.filter { $0 != replies } }

    /// ``aligned`` as sentences name it.
    package var alignedText: String { receipts == nil ? "all six topics" : "all six topics and the receipts" }

    /// The topic of the answers for gateways that ask for it; nil = there is no such topic.
    package var replies: String? {
        get { outputs[.replies] }
        set { outputs[.replies] = newValue }
    }

    /// The topic of the receipts that Apple exchanges for the risk metric; nil = there is no such topic.
    package var receipts: String? {
        get { outputs[.receipts] }
        set { outputs[.receipts] = newValue }
    }

    /// The defaults of worker.json.
    package static let standard = TopicNames(
        requests: "appattest.requests",
        outputs: [
            .results: "appattest.results", .tokens: "appattest.tokens", .events: "appattest.events",
            .deadLetters: "appattest.dead-letters", .ledger: "appattest.ledger",
        ]
    )

    subscript(stream: OutputTopic) -> String {
        get { outputs[stream] ?? "" }
        set { outputs[stream] = newValue }
    }
}
