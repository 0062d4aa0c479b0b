internal import KafkaPorts
internal import Member
internal import Pipeline
internal import Streams

/// A process's wall clock. Confined to the test's thread.
package final class SimulatedClock: @unchecked Sendable {
    /// How far it is ahead of the brokers', in milliseconds.
    package var ahead: Int64 = 0

    package init() {}
}

/// A process: the member that production runs, on a simulated client library; its loop, its lanes.
final class SimulatedWorker {
    let process: SimulatedProcess
    private let streams: MemberStreams
    let lanes: SimulatedLanes
    let loop: BatchLoop
    let clock: SimulatedClock
    var pausedUntil: Int64 = 0
    /// In the middle of a call while others continue.
    var isBusy = false
    /// Its moves since the group waits for its answer, and since it has partitions that it does nothing about.
    var watch = StartWatch()
    var heldUp = 0
    var heldUpSince: Int64 = 0
    var isHeldUpNoted = false
    var forgetful = 0
    var moves = 0
    var isStopping = false
    /// Whether it stops before its next move.
    var isSignalled = false
    /// Another process was started in its place.
    var isReplaced = false

    init(
        _ process: SimulatedProcess,
        _ streams: MemberStreams,
        _ lanes: SimulatedLanes,
        _ loop: BatchLoop,
        _ clock: SimulatedClock
    ) {
        self.process = process
        self.streams = streams
        self.lanes = lanes
        self.loop = loop
        self.clock = clock
    }

    var name: String { process.name }
    /// The restored partitions of its member; nil = none (yet).
    var settled: [Int32]? { streams.core.settled }
    /// Partitions that the member has resumed.
    var resumed: [Int32] { process.consumer?.watch.resumed ?? [] }
    var isSettled: Bool { loop.isIdle && loop.restoring == nil && settled != nil && !isStopping }

    /// The client has partitions that the member neither asks about nor reads.
    var hasForgottenPartitions: Bool {
        guard let consumer = process.consumer, consumer.hasAnsweredAssignment else { return false }
        return settled == nil && !streams.core.isAwaiting
    }

    /// The process's certificates are renewed.
    func renewFiles() {
        process.renewFiles()
        streams.core.renew(at: process.now)
    }

    func close() { streams.core.close(at: process.now) }
}

extension SimulationPlan {
    /// The member of a process.
    func member(of process: SimulatedProcess, partitions: Int) throws -> MemberStreams {
        let kind: OutputWriter.Settings.Delivery = delivery == .exactlyOnce ? .transaction : .atLeastOnce
        var writer = OutputWriter.Settings(
            delivery: kind,
            transactionalID: process.name,
            isStaticMember: isStatic
        )
        var settings = MemberSettings(
            delivery: kind,
            group: process.broker.groupName,
            stableID: process.name,
            requests: SimulatedBroker.requestsTopic,
            ledger: OutputTopic.ledger.rawValue,
            makeIdentity: process.makeIdentity
        )
        settings.partitions = Int32(partitions)
        settings.standbyLoops = follows ? 1 : nil
        settings.outputMilliseconds = limits.transactionTimeout
        // So few that streams of a few requests fill the room.
        settings.mostPending = 3
        settings.countsChanged = { counts, started in
            counts.values.contains { $0 != Int(started) } ? "the topics have other partitions" : nil
        }
        settings.restoredFrom = { [counts = process.broker.counts] source in
            if source == .snapshot { counts.add(.snapshotUsed) }
            if source == .standby { counts.add(.standbyUsed) }
        }
        settings.trouble = { [counts = process.broker.counts, name = process.name] fault in
            counts.note("\(name) rides out \(fault)")
        }
        (writer.commitsOffsetsAside, settings.commitsOffsetsAside) = (commitsOffsetsAside, commitsOffsetsAside)
        (settings.guardsPositions, process.broker.dropsOffsets) = (!commitsOffsetsAside, commitsOffsetsAside)
        let core = try KafkaMember(settings, process.ports(writer), at: process.now)
        return MemberStreams(core) { process.now }
    }
}
