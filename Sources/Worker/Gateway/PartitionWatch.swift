internal import Dispatch
internal import Pipeline

/// Counts the topics' partitions now and then, beside the thread that serves: keys of a topic with another number lie
/// elsewhere, and answers would not be found.
final class PartitionWatch: Sendable {
    private let expected: GatewayPartitions
    private let count: @Sendable () throws -> GatewayPartitions
    private let queue = DispatchQueue(label: "gateway.partitions")
    private let state = Locked<(isAsking: Bool, reason: String?)>((false, nil))

    /// - Parameter count: asks the broker; an error says nothing about the partitions.
    init(_ expected: GatewayPartitions, count: @escaping @Sendable () throws -> GatewayPartitions) {
        (self.expected, self.count) = (expected, count)
    }

    /// Why the gateway must not go on; nil = nothing has changed.
    var reason: String? { state.withLock { $0.reason } }

    /// Asks once, unless a question is open.
    func ask() {
        let isFirst = state.withLock { state in
            defer { state.isAsking = true }
            return !state.isAsking
        }
        guard isFirst else { return }
        queue.async {
            let found = try? self.count()
            self.state.withLock { state in
                state.isAsking = false
                guard let found else { return }
                state.reason =
                    found == self.expected
                    ? nil
                    : "the topics have \(found.text), \(self.expected.text) at the start: start the gateway again"
            }
        }
    }
}
