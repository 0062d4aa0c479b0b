internal import BrokerKit
internal import Foundation

/// The workers of a run, or its gateways: each a process of the built program under a name of its own.
///
/// For one thread at a time; ``tick()`` handles events and runs due actions.
final class ChaosCrew {
    enum State {
        case absent
        case running
        case paused(until: ContinuousClock.Instant)
        /// To be killed then.
        case doomed(until: ContinuousClock.Instant)
        case ending(since: ContinuousClock.Instant, startsAfter: Duration?)
        case down(until: ContinuousClock.Instant)
    }

    struct Member {
        let name: String
        var state = State.absent
        var process: ProgramProcess?
        var starts = 0
        var started = ContinuousClock.now
    }

    /// Starts a process by its name, with its streams at a path.
    typealias Launch = (_ name: String, _ streams: String) throws -> ProgramProcess

    let settings: ChaosSettings
    private let folder: String
    private let launch: Launch
    private let atStart: Int
    private let log: (String) -> Void
    var members: [Member]
    /// Workers that ``leave(_:)`` ended.
    private var resting: [Int] = []
    /// Processes that ended by themselves, and such that ended wrongly.
    private(set) var findings: [String] = []
    /// The search for a worker inside a transaction, and what was found; nil = workers have none, or not yet.
    var hunt: TransactionHunt?
    /// From SIGTERM to the end, the longest.
    private(set) var longestEnding = Duration.zero

    private static let endingLimit = Duration.seconds(60)
    private static let youth = Duration.seconds(3)
    private static let restartPause = Duration.seconds(1)

    /// - Parameter atStart: how many of the names run at first; nil = all.
    init(
        _ settings: ChaosSettings,
        _ names: [String],
        atStart: Int? = nil,
        in folder: String,
        log: @escaping (String) -> Void,
        launch: @escaping Launch
    ) {
        (self.settings, self.folder, self.launch, self.log) = (settings, folder, launch, log)
        self.atStart = atStart ?? names.count
        members = names.map { Member(name: $0) }
    }

    func start() throws {
        for index in 0..<atStart { try start(index) }
    }

    /// Asks every worker to end and waits for it. - Returns: their names.
    func leave(_ pause: () throws -> Void) throws -> [String] {
        resting = running
        for index in resting { end(index) }
        while !isWhole { try pause() }
        return resting.map { members[$0].name }
    }

    /// Asks a process to end.
    ///
    /// - Parameter back: after which time it is started again; nil = it is not.
    func end(_ index: Int, startsAfter back: Duration? = nil) {
        members[index].process?.signal(SIGTERM)
        members[index].state = .ending(since: .now, startsAfter: back)
    }

    /// Starts those workers again that ``leave(_:)`` ended.
    func come() throws {
        for index in resting { try start(index) }
        resting = []
    }

    /// No worker is paused, ending or down.
    var isWhole: Bool { running.count + absent.count == members.count }

    private func indices(_ wanted: (State) -> Bool) -> [Int] { members.indices.filter { wanted(members[$0].state) } }

    var running: [Int] { indices { if case .running = $0 { true } else { false } } }
    /// Those of them that are processes now.
    var runningWorkers: [(name: String, process: ProgramProcess)] {
        running.compactMap { index in members[index].process.map { (members[index].name, $0) } }
    }

    var absent: [Int] { indices { if case .absent = $0 { true } else { false } } }

    func start(_ index: Int) throws {
        members[index].starts += 1
        members[index].started = .now
        let name = members[index].name
        members[index].process = try launch(name, "\(folder)/\(name)-\(members[index].starts)")
        members[index].state = .running
    }
}

// MARK: - Time passes

extension ChaosCrew {
    /// Handles exits and runs due actions. - Returns: whether an earlier fault ended.
    @discardableResult
    func tick() throws -> Bool {
        var healed = false
        for index in members.indices where try tick(index) { healed = true }
        return healed
    }

    private func tick(_ index: Int) throws -> Bool {
        let end = members[index].process?.end
        switch members[index].state {
        case .absent: return false
        case .running:
            if let end {
                note(index, "ended by itself, \(end)")
                members[index].state = .down(until: .now + Self.restartPause)
            }
            return false
        case .paused(let until):
            guard ContinuousClock.now >= until else { return false }
            members[index].process?.signal(SIGCONT)
            members[index].state = .running
            return true
        case .doomed(let until):
            guard ContinuousClock.now >= until else { return false }
            strike(index, Self.restartPause)
            return true
        case .ending(let since, let startsAfter):
            guard let end else {
                if ContinuousClock.now - since > Self.endingLimit { giveUp(index) }
                return false
            }
            longestEnding = max(longestEnding, ContinuousClock.now - since)
            // A process that has only just started does not handle signals yet.
            let isYoung = since - members[index].started < Self.youth && end == .signal(SIGTERM)
            if end != .exit(0), !isYoung { note(index, "\(end) after SIGTERM") }
            members[index].state = startsAfter.map { .down(until: .now + $0) } ?? .absent
            return startsAfter == nil
        case .down(let until):
            guard ContinuousClock.now >= until else { return false }
            try start(index)
            return true
        }
    }

    private func giveUp(_ index: Int) {
        note(index, "still running \(Self.endingLimit.text) after SIGTERM, killed")
        members[index].process?.signal(SIGKILL)
        if members[index].process?.waitForEnd(seconds: 10) == nil { members[index].state = .absent }
    }

    private func note(_ index: Int, _ what: String) {
        let tail = (members[index].process?.error ?? "").split(separator: "\n").suffix(4).joined(separator: "\n    ")
        findings.append("\(members[index].name): \(what)\n    \(tail)")
        log("FINDING \(findings[findings.count - 1])")
    }

    /// Asks every worker to end and waits for it.
    func finish() throws {
        for index in members.indices where members[index].process?.isRunning ?? false {
            members[index].process?.signal(SIGCONT)
            end(index)
        }
        for index in members.indices {
            if case .down = members[index].state { members[index].state = .absent }
        }
        while !isWhole {
            try tick()
            usleep(20_000)
        }
    }
}

extension Duration {
    /// Seconds with a tenth.
    var text: String { (self / .seconds(1)).tenths + " s" }
}

extension Double {
    /// With one digit behind the point.
    var tenths: String { String(format: "%.1f", self) }
}
