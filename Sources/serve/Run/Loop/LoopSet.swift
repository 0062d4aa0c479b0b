internal import Broker
internal import Dispatch
internal import Member
package import Pipeline
internal import Settings
internal import Telemetry
internal import Threads

/// The loops of one process: each has a queue, a consumer and a producer of its own; the lanes are shared.
///
/// They end together: on a stop each finishes its oldest batch, and when one ends with a fault the others are stopped.
package final class LoopSet {
    /// A loop, where it runs, and how its streams are closed.
    struct Member {
        let driver: LoopDriver
        let loop: BatchLoop
        /// Says what the loop's member knows, asked on the loop's thread; nil = it is not asked.
        var memberSnapshot: (() -> MemberSnapshot)?
        /// Replaces the streams' clients if their certificate files have changed.
        var renew: () -> Void = {}
        let close: () throws -> Void
    }

    /// How many polls a loop has to get its partitions back before the next loop's clients are replaced.
    private static let renewalLooks = 5...300

    private let members: [Member]
    /// The loops whose clients wait for replacement, and how often the first of them was polled since its turn began.
    private var renewals: (left: Range<Int>, looks: Int) = (0..<0, 0)

    init(_ members: [Member]) {
        precondition(!members.isEmpty, "there is at least one loop")
        self.members = members
    }

    var loops: [BatchLoop] { members.map(\.loop) }

    /// The sum of what all loops have committed, once they have ended.
    var tally: LoopTally { members.reduce(into: LoopTally()) { $0.add($1.loop.tally) } }

    /// Whether a stop left a batch whose commit had failed.
    var endedWithoutCommit: Bool { loops.contains(where: \.endedWithoutCommit) }

    /// Runs all loops to their ends; returns on the calling thread.
    ///
    /// - Parameters:
    ///   - stopping: called when a loop's fault stops the others.
    ///   - report: called ten times a second with the sums of all loops.
    /// - Throws: the first fault of a loop, once all have ended.
    package func run(stopping: () -> Void, report: (LoopTally, RestoreProgress?) -> Void) throws {
        let ended = DispatchSemaphore(value: 0)
        for member in members {
            member.driver.start(member.loop, memberSnapshot: member.memberSnapshot) { ended.signal() }
        }
        var fault: (any Error)?
        while true {
            _ = ended.wait(timeout: .now() + .milliseconds(100))
            let outcomes = members.map(\.driver.outcome)
            if fault == nil, let first = outcomes.lazy.compactMap({ $0?.fault }).first {
                fault = first
                stopping()
                stop()
            }
            guard outcomes.contains(where: { $0 == nil }) else { break }
            let states = members.map(\.driver.state)
            advanceRenewals(states)
            report(
                states.reduce(into: LoopTally()) { $0.add($1.tally) },
                states.compactMap(\.restoring).reduce(nil) { ($0 ?? RestoreProgress(records: 0, remaining: 0)) + $1 }
            )
        }
        if let fault { throw fault }
    }

    /// Replaces the clients of one loop after the other. Called by what ``run(stopping:report:)`` calls.
    func renewClients() { renewals = (members.indices, 0) }

    private func advanceRenewals(_ states: [LoopState]) {
        guard let index = renewals.left.first else { return }
        if renewals.looks == 0 { members[index].renew() }
        renewals.looks += 1
        let isBack = renewals.looks > Self.renewalLooks.lowerBound && states[index].member?.isSettled ?? true
        if isBack || renewals.looks > Self.renewalLooks.upperBound { renewals = (renewals.left.dropFirst(), 0) }
    }

    package func stop() { for member in members { member.driver.stop() } }

    /// Closes the streams of all loops. - Throws: the first fault of one.
    package func close() throws {
        var fault: (any Error)?
        for member in members {
            do { try member.close() } catch { fault = fault ?? error }
        }
        if let fault { throw fault }
    }

    /// Hands other settings to every loop.
    ///
    /// All loops are asked first, so that no loop takes what another one refuses.
    ///
    /// - Parameter taken: called once they are in use everywhere (nil), or with the keys that they lack.
    func replace(_ settings: PipelineSettings, taken: @escaping @Sendable (MissingSealingKeys?) -> Void) {
        let posts = members.map { (post: $0.driver.post, loop: $0.loop) }
        let judged = Ballot(posts.count) { missing in
            if let missing {
                for member in posts { member.post { member.loop.withdraw() } }
                return taken(missing)
            }
            let answered = Ballot(posts.count, taken)
            for member in posts { member.post { member.loop.take(settings) { answered.vote(nil) } } }
        }
        for member in posts { member.post { member.loop.offer(settings, judged: judged.vote) } }
    }
}

/// Waits for an answer of each loop.
private final class Ballot: Sendable {
    private let state: Locked<(left: Int, missing: Set<UInt32>)>
    private let done: @Sendable (MissingSealingKeys?) -> Void

    init(_ voters: Int, _ done: @escaping @Sendable (MissingSealingKeys?) -> Void) {
        state = Locked((voters, []))
        self.done = done
    }

    @Sendable func vote(_ missing: MissingSealingKeys?) {
        let all = state.withLock { state -> Set<UInt32>? in
            state.left -= 1
            state.missing.formUnion(missing?.ids ?? [])
            return state.left == 0 ? state.missing : nil
        }
        guard let all else { return }
        done(all.isEmpty ? nil : MissingSealingKeys(ids: all.sorted()))
    }
}

extension Result {
    /// nil = it succeeded.
    fileprivate var fault: Failure? { if case .failure(let fault) = self { fault } else { nil } }
}

/// How many loops a process runs.
///
/// A loop's own part of a record is small beside the lanes', so one feeds about eight cores. A machine with fewer has
/// one, and keeps its instance's name as it is.
enum LoopCount {
    static let coresPerLoop = 8

    /// - Parameter configured: 0 = by the cores.
    static func of(_ configured: Int, cores: Int) -> Int {
        configured > 0 ? configured : max(1, cores / coresPerLoop)
    }
}

extension Configuration {
    var loopCount: Int { LoopCount.of(loops, cores: UsableCores.count) }
}
