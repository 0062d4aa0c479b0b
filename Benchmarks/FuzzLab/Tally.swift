internal import Dispatch
internal import Synchronization
internal import Threads

/// The counts of a run, and its first mistakes.
struct RunTally<Count: Hashable & Sendable>: Sendable {
    private(set) var counts: [Count: Int] = [:]
    private(set) var mistakes: [String] = []

    subscript(count: Count) -> Int {
        get { counts[count, default: 0] }
        set { counts[count] = newValue }
    }

    mutating func mistake(_ sentence: String) {
        if mistakes.count < 10 { mistakes.append(sentence) }
    }

    mutating func add(_ other: RunTally) {
        counts.merge(other.counts, uniquingKeysWith: +)
        mistakes += other.mistakes.prefix(max(0, 10 - mistakes.count))
    }

    /// Runs the lanes side by side.
    static func sum(lanes: Int, _ lane: @Sendable (Int) -> RunTally) -> RunTally {
        let total = Locked(RunTally())
        DispatchQueue.concurrentPerform(iterations: lanes) { number in
            let tally = lane(number)
            total.withLock { $0.add(tally) }
        }
        return total.withLock { $0 }
    }

    /// Each chunk goes to the first lane that is free.
    static func sum(lanes: Int, chunks: Int, _ makeLane: @Sendable () -> (Int) -> RunTally) -> RunTally {
        let next = Atomic<Int>(0)
        return sum(lanes: lanes) { _ in
            let lane = makeLane()
            var total = RunTally()
            while true {
                let chunk = next.add(1, ordering: .relaxed).oldValue
                guard chunk < chunks else { return total }
                total.add(lane(chunk))
            }
        }
    }
}

/// Objects that were judged.
enum ObjectCount: Hashable {
    case inputs
    case reason(String)
    /// Inputs that went through real signatures and OpenSSL, too.
    case crossChecked
    /// Damage to bytes that nothing signs: the object says the same as before.
    case mutatedAccepted
    /// Damage that was signed again and changes nothing that counts.
    case resignedAccepted
}

typealias Tally = RunTally<ObjectCount>

extension Tally {
    var reasons: [(reason: String, count: Int)] {
        counts.compactMap { if case .reason(let reason) = $0 { (reason, $1) } else { nil } }.sorted { $0 < $1 }
    }

    mutating func count(_ reason: String) {
        self[.inputs] += 1
        self[.reason(reason)] += 1
    }
}

enum SignatureCount { case p256, p384, p384WithOpenSSL, valid, undecided }

typealias SignatureTally = RunTally<SignatureCount>

/// Hostile clients and what became of them.
enum GatewayCount: Hashable {
    case inputs
    /// Requests that the handler saw.
    case requests
    /// Refusals of a status.
    case refusals(Int)
    case aborted
    /// Inputs with the one spelling that the library hides.
    case hidden
    /// Inputs that were tried again alone, since the first try might have been a slow machine's.
    case retried
    /// Servers started and stopped.
    case lives
}

typealias GatewayTally = RunTally<GatewayCount>

extension GatewayTally {
    var refusals: [(status: Int, count: Int)] {
        counts.compactMap { if case .refusals(let status) = $0 { (status, $1) } else { nil } }.sorted { $0 < $1 }
    }
}
