internal import BrokerKit
internal import DeviceLab
internal import Foundation
internal import TestKit

/// The wall clocks of a run's workers and brokers, each its own. For one thread at a time.
///
/// A clock is a machine's: a process that ends and starts again meanwhile finds it wrong.
final class ChaosClocks {
    private struct Wrong {
        let jump: Int
        let set: (Int) throws -> Void
        let since: ContinuousClock.Instant
        let until: ContinuousClock.Instant
    }

    /// While clocks come right, what they have spoilt may still be answered.
    static let aftermath = Duration.seconds(5)

    private let cluster: RealCluster
    private let workplace: ProgramWorkplace
    /// Each worker's clock, by its name, and the port where it says whether it is ready.
    private let workers: [String: (clock: ShimmedClock, port: UInt16)]
    /// One worker's at most, and one broker's.
    private var wrong: [ChaosFault: Wrong] = [:]
    private(set) var jumps: [ClockJump] = []
    /// The doubts of workers that may still come to an end.
    private var doubts: [(jump: Int, watch: ClockDoubtWatch)] = []
    /// When some clock was wrong, with the aftermath.
    private(set) var spans: [(begin: ContinuousClock.Instant, end: ContinuousClock.Instant?)] = []

    /// - Parameter names: the workers'.
    init(_ shim: ClockShim, _ cluster: RealCluster, _ workplace: ProgramWorkplace, workers names: [String]) throws {
        (self.cluster, self.workplace) = (cluster, workplace)
        workers = try names.reduce(into: [:]) { $0[$1] = (try shim.clock($1), try BrokerPorts.freePort()) }
    }

    /// Starts a worker with its own clock, and with a configuration that has its own port.
    func start(_ worker: String, streams: String) throws -> ProgramProcess {
        let config = workplace.file(worker)
        if let port = workers[worker]?.port, !FileManager.default.fileExists(atPath: config) {
            try workplace.copyConfig(as: worker)
            let own = #""metrics": {"port": \#(port)}, "anchors""#
            try workplace.rewrite("worker.json", of: worker) { $0.replacing(#""anchors""#, with: own) }
        }
        return try ProgramProcess(
            ["run", "--config", config, "--instance", worker],
            streams: streams,
            environment: workers[worker]?.clock.environment ?? [:]
        )
    }

    var isRight: Bool { wrong.isEmpty }

    /// Sets a clock. - Returns: a description; nil while another clock of the kind is wrong.
    ///
    /// - Parameter running: the workers that run now, by name.
    func apply(_ planned: PlannedFault, running: [(name: String, process: ProgramProcess)]) throws -> String? {
        guard wrong[planned.fault] == nil else { return nil }
        var random = SeededRandom(seed: planned.target)
        let isWorkers = planned.fault == .jumpWorkerClock
        // One ahead, one behind.
        let turn = jumps.count { (workers[$0.name] != nil) == isWorkers }
        func size(_ seconds: ClosedRange<Int>) -> Int {
            let milliseconds = seconds.lowerBound * 1_000...seconds.upperBound * 1_000
            return Int.random(in: milliseconds, using: &random) * (turn % 2 == 0 ? 1 : -1)
        }
        switch planned.fault {
        case .jumpBrokerClock:
            let id = 1 + Int(random.next() % UInt64(cluster.brokerIDs.count))
            let length = Duration.seconds(3 + 6 * planned.length)
            return try set(planned.fault, "broker \(id)", size(2...20), length) { [cluster] in
                try cluster.setClock(id, milliseconds: $0)
            }
        default:
            guard !running.isEmpty else { return nil }
            let (name, process) = running[Int(random.next() % UInt64(running.count))]
            guard let worker = workers[name] else { return nil }
            // Two are more than a worker puts up with, two are less.
            let size = turn % 4 < 2 ? size(62...90) : size(5...58)
            let length = Duration.seconds(5 + 8 * planned.length)
            doubts.append((jumps.count, ClockDoubtWatch(process, port: worker.port)))
            return try set(planned.fault, name, size, length) { try worker.clock.set(milliseconds: $0) }
        }
    }

    private func set(
        _ fault: ChaosFault,
        _ name: String,
        _ milliseconds: Int,
        _ length: Duration,
        _ set: @escaping (Int) throws -> Void
    ) throws -> String {
        try set(milliseconds)
        let now = ContinuousClock.now
        if wrong.isEmpty { spans.append((now, nil)) }
        wrong[fault] = Wrong(jump: jumps.count, set: set, since: now, until: now + length)
        jumps.append(ClockJump(name: name, milliseconds: milliseconds))
        let size = Duration.milliseconds(abs(milliseconds)).text
        return "the clock of \(name) is \(size) \(milliseconds < 0 ? "behind" : "ahead") for \(length.text)"
    }

    /// - Returns: whether a clock came right.
    func tick() throws -> Bool {
        for doubt in doubts {
            doubt.watch.look(&jumps[doubt.jump], isRight: !wrong.values.contains { $0.jump == doubt.jump })
        }
        doubts.removeAll { $0.watch.isOver }
        var healed = false
        for (fault, one) in wrong where ContinuousClock.now >= one.until {
            try one.set(0)
            jumps[one.jump].seconds = (.now - one.since) / .seconds(1)
            wrong[fault] = nil
            healed = true
        }
        if healed, wrong.isEmpty { spans[spans.count - 1].end = .now + Self.aftermath }
        return healed
    }

    /// Whether some clock was wrong at that time, or had just been.
    func wereWrong(at time: ContinuousClock.Instant) -> Bool {
        spans.contains { $0.begin <= time && time <= $0.end ?? time }
    }
}
