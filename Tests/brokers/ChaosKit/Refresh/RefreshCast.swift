internal import BrokerKit
internal import Foundation

/// The processes of a run by their names; those that are killed or asked to end come back after a while.
///
/// For one thread at a time.
final class RefreshCast {
    typealias Launch = () throws -> ProgramProcess

    private struct Role {
        let launch: Launch
        var process: ProgramProcess?
        var back: ContinuousClock.Instant?
        var endingSince: ContinuousClock.Instant?
        var pause = Duration.zero
    }

    private static let endingLimit = Duration.seconds(60)

    private var roles: [String: Role] = [:]
    private let log: (String) -> Void
    /// Processes that ended by themselves or wrongly, with what they said last.
    private(set) var findings: [String] = []
    /// How often a static member was fenced, as processes that have ended said: a broker that stood still may answer its
    /// join and the repeated one. The member joins again, and reads from the committed offset.
    private(set) var fenced = 0

    init(log: @escaping (String) -> Void) { self.log = log }

    func add(_ name: String, _ launch: @escaping Launch) throws {
        roles[name] = Role(launch: launch, process: try launch())
    }

    var names: [String] { roles.keys.sorted() }
    var isWhole: Bool { roles.values.allSatisfy { $0.back == nil && $0.endingSince == nil } }

    func isUp(_ name: String) -> Bool { roles[name].map { $0.back == nil && $0.endingSince == nil } ?? false }

    func kill(_ name: String, back pause: Duration) {
        roles[name]?.process?.signal(SIGKILL)
        _ = roles[name]?.process?.waitForEnd(seconds: 10)
        roles[name]?.back = .now + pause
    }

    func terminate(_ name: String, back pause: Duration) {
        roles[name]?.process?.signal(SIGTERM)
        roles[name]?.endingSince = .now
        roles[name]?.pause = pause
    }

    func signal(_ name: String, _ number: Int32) {
        if isUp(name) { roles[name]?.process?.signal(number) }
    }

    func tick() throws {
        for name in names { try tick(name) }
    }

    private func tick(_ name: String) throws {
        guard var role = roles[name] else { return }
        defer { roles[name] = role }
        if let back = role.back {
            guard ContinuousClock.now >= back else { return }
            count(role)
            (role.process, role.back) = (try role.launch(), nil)
        } else if let since = role.endingSince {
            if role.process?.end == nil, ContinuousClock.now - since > Self.endingLimit {
                note(name, role, "does not end after SIGTERM")
                role.process?.signal(SIGKILL)
                _ = role.process?.waitForEnd(seconds: 10)
            }
            guard let end = role.process?.end else { return }
            if end != .exit(0) { note(name, role, "\(end) after SIGTERM") }
            (role.endingSince, role.back) = (nil, .now + role.pause)
        } else if let end = role.process?.end {
            note(name, role, "ended by itself, \(end)")
            role.back = .now + .seconds(1)
        }
    }

    private func count(_ role: Role) {
        fenced += role.process?.error.ranges(of: "FENCED_INSTANCE_ID").count ?? 0
    }

    private func note(_ name: String, _ role: Role, _ what: String) {
        let tail = (role.process?.error ?? "").split(separator: "\n").suffix(6).joined(separator: "\n    ")
        findings.append("\(name): \(what)\n    \(tail)")
        log("FINDING \(name): \(what)")
    }

    /// Asks every process to end, and waits for it.
    func finish() throws {
        for name in names where isUp(name) { terminate(name, back: .zero) }
        while roles.values.contains(where: { $0.endingSince != nil }) {
            for name in names where roles[name]?.endingSince != nil { try tick(name) }
            usleep(20_000)
        }
        roles.values.forEach(count)
    }
}
