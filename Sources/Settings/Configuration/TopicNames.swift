package import Streams

/// The names of the six topics, and of the replies where there are any.
package struct TopicNames: Sendable, Equatable {
    package var requests: String
    package var outputs: [OutputTopic: String]

    /// - Parameter outputs: a name for each of ``Streams/OutputTopic/required``, and for the replies if there are any.
    package init(requests: String, outputs: [OutputTopic: String]) {
        self.requests = requests
        self.outputs = outputs
    }

    /// The requests first, then the outputs in their own order.
    package var all: [String] { [requests] + OutputTopic.allCases.compactMap { outputs[$0] } }

    /// The topics that need the same number of partitions; ``replies`` has its own number.
    package var aligned: [String] { [requests] + OutputTopic.required.compactMap { outputs[$0] } }

    /// The topic of the answers for gateways that ask for it; nil = there is no such topic.
    package var replies: String? {
        get { outputs[.replies] }
        set { outputs[.replies] = newValue }
    }
}

extension TopicNames {
    /// The defaults of worker.json.
    package static let standard = TopicNames(
        requests: "appattest.requests",
        outputs: [
            .results: "appattest.results", .tokens: "appattest.tokens", .events: "appattest.events",
            .deadLetters: "appattest.dead-letters", .ledger: "appattest.ledger",
        ]
    )

    /// An output's name.
    subscript(stream: OutputTopic) -> String {
        get { outputs[stream] ?? "" }
        set { outputs[stream] = newValue }
    }
}
