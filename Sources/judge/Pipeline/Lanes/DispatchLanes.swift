package import AppAttest
package import Crypto
internal import Dispatch
internal import Threads

/// N lanes, each a serial Dispatch queue with its own scratch. Lanes take grains from the oldest job of the highest
/// priority; when a job has no grains left, its lanes go on with the next job, so that no lane waits for a slower one.
package final class DispatchLanes: LaneRunner, @unchecked Sendable {
    private struct Job: Sendable {
        let id: Int
        let grains: Int
        var next = 0
        let run: @Sendable (Int, LaneScratch) -> Void
    }

    private struct State: Sendable {
        var high: [Job] = []
        var normal: [Job] = []
        var nextID = 0
        var idle: [Bool]

        /// The next grain to run, oldest job first; nil when there is none.
        mutating func take() -> (grain: Int, run: @Sendable (Int, LaneScratch) -> Void)? {
            if let found = Self.take(from: &high) { return found }
            return Self.take(from: &normal)
        }

        private static func take(from jobs: inout [Job]) -> (Int, @Sendable (Int, LaneScratch) -> Void)? {
            guard !jobs.isEmpty else { return nil }
            let grain = jobs[0].next
            let run = jobs[0].run
            jobs[0].next += 1
            if jobs[0].next == jobs[0].grains { jobs.removeFirst() }
            return (grain, run)
        }
    }

    private let queues: [DispatchQueue]
    // Each belongs to the queue of the same index.
    private let scratches: [LaneScratch]
    private let state: Locked<State>
    private let stopped: @Sendable () -> Bool
    private let waiting: DispatchLanes?

    /// - Parameters:
    ///   - scratches: one per lane; at least one.
    ///   - waiting: one per further lane, for what waits; where there is none, the lanes wait.
    ///   - isEngineStopped: whether the engine of these scratches was found wrong; called on any thread.
    package init(
        scratches: [LaneScratch],
        waiting: [LaneScratch] = [],
        isEngineStopped: @escaping @Sendable () -> Bool = { false }
    ) {
        precondition(!scratches.isEmpty, "there is at least one lane")
        self.scratches = scratches
        stopped = isEngineStopped
        self.waiting = waiting.isEmpty ? nil : DispatchLanes(scratches: waiting)
        queues = scratches.indices.map { DispatchQueue(owner: "lane.\($0)", qos: .userInitiated) }
        state = Locked(State(idle: Array(repeating: true, count: scratches.count)))
    }

    package var isEngineStopped: Bool { stopped() }

    package func run<Output: Sendable>(
        count: Int,
        grain: Int,
        priority: LanePriority,
        _ body: @escaping @Sendable (Range<Int>, LaneScratch) -> [Output],
        completion: @escaping @Sendable ([Output]) -> Void
    ) {
        if priority == .waiting, let waiting {
            return waiting.run(count: count, grain: grain, priority: priority, body, completion: completion)
        }
        guard count > 0 else { return completion([]) }
        let grain = priority.step.map { Self.grain(of: count, lanes: queues.count, most: grain, step: $0) } ?? grain
        let grains = (count + grain - 1) / grain
        let gathered = Locked(Gathered<Output>(grains: grains))
        let job: @Sendable (Int, LaneScratch) -> Void = { index, scratch in
            let start = index * grain
            let output = body(start..<min(start + grain, count), scratch)
            if let all = gathered.withLock({ $0.put(output, at: index) }) { completion(all) }
        }
        let woken = state.withLock { state -> [Int] in
            state.nextID += 1
            let entry = Job(id: state.nextID, grains: grains, run: job)
            if priority == .normal { state.normal.append(entry) } else { state.high.append(entry) }
            let idle = state.idle.indices.filter { state.idle[$0] }
            for lane in idle { state.idle[lane] = false }
            return idle
        }
        for lane in woken { queues[lane].async { self.drain(lane) } }
    }

    /// Several grains for each lane: a token costs a hundred times what other records do, and one grain may have all of a
    /// small batch.
    package static func grain(of count: Int, lanes: Int, most: Int, step: Int) -> Int {
        let share = (count + grainsPerLane * lanes - 1) / (grainsPerLane * lanes)
        return min(most, (share + step - 1) / step * step)
    }

    private static let grainsPerLane = 4

    /// Runs grains until there are none, then marks the lane idle.
    private func drain(_ lane: Int) {
        while true {
            let taken = state.withLock { state in
                let taken = state.take()
                if taken == nil { state.idle[lane] = true }
                return taken
            }
            guard let taken else { return }
            scratches[lane].owner.check()
            taken.run(taken.grain, scratches[lane])
        }
    }
}

extension LanePriority {
    /// What a short stage's grains are multiples of: the signatures that a library makes at once, or a token.
    fileprivate var step: Int? {
        switch self {
        case .high: 8
        case .waiting: 1
        case .normal: nil
        }
    }
}

/// The results of one job, put together from its grains.
private struct Gathered<Output: Sendable>: Sendable {
    private var parts: [[Output]?]
    private var missing: Int

    init(grains: Int) {
        parts = Array(repeating: nil, count: grains)
        missing = grains
    }

    /// - Returns: all results in order once the last part is there.
    mutating func put(_ part: [Output], at index: Int) -> [Output]? {
        precondition(parts[index] == nil, "a grain runs once")
        parts[index] = part
        missing -= 1
        guard missing == 0 else { return nil }
        defer { parts = [] }
        return parts.flatMap { $0 ?? [] }
    }
}

/// A lane's private tools: the verifier with its caches, the signature engine with its scratch.
package final class LaneScratch {
    var owner = Owner("LaneScratch")
    package let verifier: ObjectVerifier
    package let engine: any SignatureEngine
    /// The records that the lane works on.
    package let work: WorkSlot
    /// The verifications of the grain in hand whose signatures are open; empty between two grains.
    var unfinished: [UnfinishedVerification] = []
    /// The open signatures of a round, where their records stand in the grain, and the answers. Kept from one round to
    /// the next for their memory only.
    var checks: [SignatureCheck] = []
    var places: [Int] = []
    var answers = SignatureAnswers()

    package init(verifier: ObjectVerifier, engine: any SignatureEngine, work: WorkSlot = WorkSlot()) {
        (self.verifier, self.engine, self.work) = (verifier, engine, work)
    }

    func beginRound() {
        checks.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }
}
