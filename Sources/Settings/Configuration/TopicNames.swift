package import Log

/// The names of the six topics.
package struct TopicNames: Sendable, Equatable {
    package var requests: String
    package var outputs: [OutputTopic: String]

    /// - Parameter outputs: a name for each ``OutputTopic``.
    package init(requests: String, outputs: [OutputTopic: String]) {
        self.requests = requests
        self.outputs = outputs
    }

    /// The requests first, then the outputs in their own order.
    package var all: [String] { [requests] + OutputTopic.allCases.compactMap { outputs[$0] } }
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
