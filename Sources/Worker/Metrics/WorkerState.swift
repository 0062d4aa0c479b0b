/// What a worker does, from its start to its end.
enum WorkerState: String, Sendable, CaseIterable {
    // In the order in which one outweighs those behind it, where several loops differ.
    case stopping, starting
    case waitingForBroker = "waiting_for_broker"
    case restoring, paused, running
}
