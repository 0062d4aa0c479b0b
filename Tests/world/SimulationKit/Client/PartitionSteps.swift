internal import DeviceLab
internal import Streams

/// Partitions inside librdkafka 2.0.2 under a seed, as read in `rdkafka_partition.c` and `rdkafka_assignment.c`.
///
/// Two threads, the application's and the library's main one, take steps of a partition: each step takes a version and is
/// then queued, and the main thread drops it if a later one was served first. A third thread fetches.
final class PartitionSteps {
    enum Act {
        /// An offset below 0 is looked up first.
        case start(Int64), stop, seek(Int64)
        case pause(Bool, byLibrary: Bool)
    }

    enum Reply { case done, notStarted, overtaken }

    enum Delivery {
        case record(InboundRecord)
        case end(Int64)
        /// The partition has stopped: its offset is no offset of the topic any more.
        case offsetGone
        /// What lay before this offset was skipped.
        case damaged(before: Int64)
    }

    struct Step {
        let partition: Partition
        let version: Int
        let act: Act
        /// The call that waits for the answer; nil = a step of the library's own.
        let ticket: Int?
    }

    enum Work {
        case step(Step)
        case stopped
        /// A call that needs no partition.
        case call(ticket: Int)
        /// - Parameter isRepeated: a timer runs until then; else the leader's answer is under way.
        case firstOffset(Partition, version: Int, due: Int64, isRepeated: Bool)

        var isStep: Bool { if case .firstOffset = self { false } else { true } }

        func isTimer(of other: Partition) -> Bool {
            if case .firstOffset(let partition, _, _, isRepeated: true) = self { partition === other } else { false }
        }
    }

    final class Partition {
        /// `query` = an answer about its first offset came too late: it is asked for again in a while.
        enum State { case stopped, query, lookup, active }

        let number: Int32
        /// Of the last step that was issued, and of the last one that was served.
        var version = 1, served = 1
        var state = State.stopped
        var isPausedByApplication = false, isPausedByLibrary = false
        var next: Int64 = -1
        /// Where the last start or seek went, or the application was at the last pause: each step goes back to it.
        var base: Int64 = -1
        /// The offset after the last record that the application got since then.
        var consumed: Int64?
        /// What is looked up: the beginning or the end.
        var lookedUp: Int64 = -1
        /// The library fails an assertion where it starts a partition that was not stopped.
        var isInGroup = false
        /// Until then the leader's thread does not look at the partition.
        var sleepsUntil: Int64 = 0
        var endTold: Int64 = -1
        var queued = 0
        /// It stopped because its offset is gone.
        var isGone = false

        init(_ number: Int32) { self.number = number }

        var mayBeFetched: Bool { isInGroup && state == .active && !isPausedByApplication && !isPausedByLibrary }
    }

    /// What the leader has at an offset; nil = nothing yet.
    var fetch: (Int32, Int64) -> Delivery? = { _, _ in nil }
    /// The oldest offset, or the end.
    var firstOffset: (Int32, Int64) -> Int64 = { _, _ in 0 }
    var note: (FaultKind) -> Void = { _ in }
    /// What is wrong about these steps, in a test of the scripts.
    var wrong: WrongModel?
    /// How often a thread loses its core between taking a version and queueing the step.
    var preempted = 0.0
    /// How often the main thread does nothing for a while, unless a call waits for it.
    var stalls = 0.0
    private var mainSleepsUntil: Int64 = 0
    /// Whether the library has an answer to the open commit, at any moment of a call.
    var hasCommitAnswer: () -> Bool = { false }
    /// An open commit of offsets: no partition starts.
    var isCommitOpen = false { didSet { if oldValue, !isCommitOpen, stopping == 0 { issueStarts() } } }
    private var keepsStarts: Bool { isCommitOpen && wrong != .startsBesideCommit }
    private(set) var assigned: [Int32] = []
    /// A call that ended the process.
    private(set) var assertion: String?
    private(set) var now: Int64 = 0
    private var partitions: [Partition] = []
    private var random: SeededRandom
    private var main: [Work] = []
    /// The main thread lost its core after it took this step's version: it stands still until it is run again.
    private var held: Step?
    /// Steps that the main thread is about to issue, one after the other.
    private var unissued: [(Partition, Act)] = []
    private var stopping = 0
    private var starts: [(Partition, Int64)] = []
    private var replies: [Int: Reply] = [:]
    private var tickets = 0
    private var queue: [(partition: Partition, version: Int, delivery: Delivery)] = []

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    func partition(_ number: Int32) -> Partition {
        if let known = partitions.first(where: { $0.number == number }) { return known }
        let fresh = Partition(number)
        partitions.append(fresh)
        partitions.sort { $0.number < $1.number }
        return fresh
    }

    /// Whether starts wait for stops, or for a commit of offsets.
    var areStartsPending: Bool { !starts.isEmpty }

    /// Whether nothing will ever start a partition any more: its start was overtaken and dropped.
    func hasLostStart(_ number: Int32) -> Bool {
        let partition = partition(number)
        guard assigned.contains(number), !partition.isInGroup, !areStartsPending else {
            return false
        }
        return held == nil && unissued.isEmpty && stopping == 0 && !main.contains(where: \.isStep)
    }

    // MARK: the library's main thread

    private func issueOwn(_ partition: Partition, _ act: Act, whileCallerWaits: Bool) {
        partition.version += 1
        let step = Step(partition: partition, version: partition.version, act: act, ticket: nil)
        if !whileCallerWaits, held == nil, random.chance(preempted) { held = step } else { main.append(.step(step)) }
    }

    /// One after the other, up to where the thread loses its core.
    private func issueRest() {
        while held == nil, !unissued.isEmpty {
            let (partition, act) = unissued.removeFirst()
            issueOwn(partition, act, whileCallerWaits: false)
        }
    }

    private func issueStarts(whileCallerWaits: Bool = false) {
        for (partition, offset) in starts {
            unissued += [(partition, .pause(false, byLibrary: true)), (partition, .start(offset))]
        }
        starts = []
        guard whileCallerWaits else { return }
        for (partition, act) in unissued { issueOwn(partition, act, whileCallerWaits: true) }
        unissued = []
    }

    private func runMain(_ steps: Int) {
        if let step = held {
            held = nil
            main.append(.step(step))
        }
        issueRest()
        for _ in 0..<steps {
            if isCommitOpen, random.chance(0.2), hasCommitAnswer() {
                isCommitOpen = false
                issueRest()
            }
            guard held == nil, !main.isEmpty else { return }
            serve(main.removeFirst())
            issueRest()
        }
    }

    private func serve(_ work: Work) {
        switch work {
        case .step(let step):
            let reply = serve(step)
            if let ticket = step.ticket { replies[ticket] = reply }
        case .call(let ticket): replies[ticket] = .done
        case .stopped:
            stopping -= 1
            if stopping == 0, !keepsStarts { issueStarts() }
        case .firstOffset(let partition, let version, let due, let isRepeated):
            guard now >= due else { return main.append(work) }
            serveLookup(partition, version, isRepeated)
        }
    }

    /// Nothing asks whether the partition was stopped since: it can be sought before it is started again.
    private func serveLookup(_ partition: Partition, _ version: Int, _ isRepeated: Bool) {
        if isRepeated {
            // The time is over, and the leader is asked again.
            lookUp(partition)
        } else if version < partition.served {
            // A later step overtook the lookup: it is repeated, even if the partition was sought since.
            partition.state = .query
            guard !main.contains(where: { $0.isTimer(of: partition) }) else { return }
            main.append(.firstOffset(partition, version: 0, due: now + 500, isRepeated: true))
        } else {
            begin(partition, at: firstOffset(partition.number, partition.lookedUp))
        }
    }

    private func lookUp(_ partition: Partition) {
        partition.state = .lookup
        main.append(.firstOffset(partition, version: partition.served, due: now + 2, isRepeated: false))
    }

    private func cancelLookup(_ partition: Partition) {
        if partition.state == .query { main.removeAll { $0.isTimer(of: partition) } }
    }

    private func serve(_ step: Step) -> Reply {
        let partition = step.partition
        guard step.version >= partition.served else {
            note(.stepOvertaken)
            if case .stop = step.act { main.append(.stopped) }
            return .overtaken
        }
        if case .seek = step.act, partition.state == .stopped, wrong != .seeksBeforeStart { return .notStarted }
        partition.served = step.version
        switch step.act {
        case .start(let offset):
            if partition.isInGroup { assertion = "a start of a partition whose stop was dropped" }
            (partition.isInGroup, partition.isGone) = (true, false)
            if wrong == .startResumes { partition.isPausedByApplication = false }
            begin(partition, at: offset)
        case .stop:
            cancelLookup(partition)
            (partition.state, partition.isInGroup) = (.stopped, false)
            main.append(.stopped)
        case .seek(let offset):
            cancelLookup(partition)
            begin(partition, at: offset)
        case .pause(let isPaused, let isByLibrary):
            if isByLibrary {
                partition.isPausedByLibrary = isPaused
            } else {
                partition.isPausedByApplication = isPaused
                if wrong == .resumeIsAtOnce, !isPaused { partition.sleepsUntil = 0 }
            }
            if isPaused, let consumed = partition.consumed { partition.base = consumed }
            // What was fetched under another version is dropped, and fetched again.
            if partition.state == .active { (partition.next, partition.endTold) = (partition.base, -1) }
        }
        return .done
    }

    /// Wakes the leader's thread.
    private func begin(_ partition: Partition, at offset: Int64) {
        (partition.next, partition.base, partition.consumed) = (offset, offset, nil)
        partition.endTold = -1
        if offset < 0 {
            partition.lookedUp = offset
            lookUp(partition)
        } else {
            partition.state = .active
            partition.sleepsUntil = 0
        }
    }

    // MARK: the leaders' threads

    /// The thread sleeps up to a second where a partition may not be fetched.
    private func fetch(_ partition: Partition) {
        guard now >= partition.sleepsUntil else {
            if partition.mayBeFetched, partition.queued == 0 { note(.fetchAsleep) }
            return
        }
        guard partition.mayBeFetched else {
            partition.sleepsUntil = now + 1_000
            return
        }
        for _ in 0..<(1 + random.below(4)) where partition.queued < 8 && partition.state == .active {
            let found = fetch(partition.number, partition.next)
            if found == nil {
                guard partition.endTold != partition.next else { return }
                partition.endTold = partition.next
            }
            deliver(found ?? .end(partition.next), of: partition)
            switch found {
            case .record(let record)?: partition.next = record.offset + 1
            case .damaged(let next)?: partition.next = next
            case .offsetGone?: (partition.state, partition.isGone) = (.stopped, true)
            case .end?, nil: break
            }
        }
    }

    private func deliver(_ delivery: Delivery, of partition: Partition) {
        // No later step drops the fault of an offset that is gone.
        let version = if case .offsetGone = delivery { Int.max } else { partition.served }
        queue.append((partition, version, delivery))
        partition.queued += 1
    }

    /// Lets all threads run up to a moment.
    func advance(to moment: Int64) {
        let passed = max(0, moment - now)
        now = max(now, moment)
        if random.chance(stalls) { mainSleepsUntil = now + Int64(random.below(2_000)) }
        if now >= mainSleepsUntil { runMain(1 + random.below(6) + Int(min(passed, 200) / 4)) }
        for partition in partitions { fetch(partition) }
    }

    // MARK: the application

    /// The next record or fault; what was fetched before a later step is dropped.
    func poll() -> (partition: Int32, delivery: Delivery)? {
        while !queue.isEmpty {
            let (partition, version, delivery) = queue.removeFirst()
            partition.queued -= 1
            guard version >= partition.served || wrong == .keepsFetched else { continue }
            if case .record(let record) = delivery { partition.consumed = record.offset + 1 }
            return (partition.number, delivery)
        }
        return nil
    }

    /// Takes a version for each step, may lose its core before it queues one, and waits for the answers.
    ///
    /// - Parameter waits: false = the answers come too late.
    func call(_ acts: [(Int32, Act)], waits: Bool = true) -> [Int32: Reply] {
        var asked: [(partition: Int32, ticket: Int)] = []
        for (number, act) in acts {
            // Both threads run.
            if random.chance(0.3) { runMain(1 + random.below(16)) }
            let partition = partition(number)
            partition.version += 1
            tickets += 1
            let step = Step(partition: partition, version: partition.version, act: act, ticket: tickets)
            if random.chance(preempted) { runMain(1 + random.below(16)) }
            main.append(.step(step))
            asked.append((number, tickets))
        }
        guard waits else { return [:] }
        while asked.contains(where: { replies[$0.ticket] == nil }) { runMain(64) }
        // The leaders' threads run, too.
        if random.chance(0.9) { for partition in partitions { fetch(partition) } }
        defer { replies = [:] }
        return Dictionary(uniqueKeysWithValues: asked.map { ($0.partition, replies[$0.ticket] ?? .done) })
    }

    /// Stops what was assigned and starts these. Waits for this part only: where partitions have to stop first, or a
    /// commit is open, the main thread starts them later.
    func assign(_ offsets: [(partition: Int32, offset: Int64)]) {
        passMain()
        for number in assigned {
            stopping += 1
            issueOwn(partition(number), .stop, whileCallerWaits: true)
            issueOwn(partition(number), .pause(false, byLibrary: true), whileCallerWaits: true)
        }
        assigned = offsets.map(\.partition).sorted()
        starts = offsets.sorted { $0.partition < $1.partition }.map { (partition($0.partition), $0.offset) }
        if stopping == 0, !keepsStarts { issueStarts(whileCallerWaits: true) }
        if areStartsPending { note(.startDelayed) }
    }

    /// What is queued before a call is served first, and what follows from that comes after it.
    func passMain() {
        tickets += 1
        main.append(.call(ticket: tickets))
        while replies.removeValue(forKey: tickets) == nil { runMain(1) }
    }

    /// A rebalance is pending: the library pauses what is assigned.
    func pauseForRebalance() {
        for number in assigned { unissued.append((partition(number), .pause(true, byLibrary: true))) }
        issueRest()
    }

    /// Wakes leaders' threads.
    func wake(_ numbers: [Int32]) { for number in numbers { partition(number).sleepsUntil = 0 } }
}
