package import Log

/// A unit on its way: its calls run one by one, and anything may happen between them.
struct DetachedCommit {
    let positions: [PartitionPosition]
    let stamp: SimulatedGroup.Stamp
    var epoch = 0
    /// nil = it is still being written.
    var outcome: Result<Void, any Error>?
}

extension SimulatedMember: DetachedUnit {
    package var isDetached: Bool { isAtomic && later != nil }

    package func start(
        _ records: [[OutboundRecord]],
        _ positions: [PartitionPosition],
        of generation: Generation,
        done: @escaping @Sendable () -> Void
    ) throws {
        precondition(detached == nil, "one unit at a time")
        guard let stamp = stamp(generation) else { preconditionFailure("a batch names the generation it was given") }
        detached = DetachedCommit(positions: positions, stamp: stamp)
        run(
            [
                { try self.begin() },
                { try self.append(records.flatMap { $0 }) },
                { try self.strike() },
                {
                    let epoch = try self.addOffsets(positions, stamp)
                    self.detached?.epoch = epoch
                },
                { try self.end(self.detached?.epoch ?? 0) },
            ],
            done
        )
    }

    /// Runs the calls as jobs, each at a time of its own.
    private func run(_ calls: [() throws -> Void], _ done: @escaping @Sendable () -> Void) {
        later? { [self] in
            isWriting = true
            defer { isWriting = false }
            do {
                try calls.first?()
                if calls.count > 1 { return run(Array(calls.dropFirst()), done) }
                detached?.outcome = .success(())
            } catch { detached?.outcome = .failure(error) }
            done()
        }
    }

    package func finish() throws {
        guard let unit = detached, let outcome = unit.outcome else { preconditionFailure("it is still being written") }
        detached = nil
        try outcome.get()
        try noteCommitted(unit.positions)
    }
}
