package import Pipeline

/// The names of the six topics.
package struct TopicNames: Sendable, Equatable {
    package var requests: String
    package var outputs: [OutputStream: String]

    /// - Parameter outputs: a name for each ``OutputStream``.
    package init(requests: String, outputs: [OutputStream: String]) {
        self.requests = requests
        self.outputs = outputs
    }

    /// The requests first, then the outputs in their own order.
    package var all: [String] { [requests] + OutputStream.allCases.compactMap { outputs[$0] } }
}
