internal import BrokerKit
internal import Foundation

/// What happens to the copies of ledgers of a worker that is down: they are gone, of earlier, another one's, or damaged.
/// For one thread at a time.
final class ChaosDisks {
    /// The workers' folders for state.
    private let folder: String
    /// What copies were before, by worker.
    private var earlier: [String: [String: Data]] = [:]

    init(_ workplace: ProgramWorkplace) { folder = workplace.config + "/state" }

    /// Kills a worker, and changes its copies before it comes back. - Returns: a description; nil if none is eligible now.
    func apply(_ planned: PlannedFault, _ crew: ChaosCrew) throws -> String? {
        let running = crew.running
        guard !running.isEmpty else { return nil }
        let index = running[Int(planned.target % UInt64(running.count))]
        let name = crew.members[index].name
        guard let process = crew.members[index].process, let own = Self.state(of: process, below: folder) else {
            return nil
        }
        crew.strike(index, crew.back(planned))
        let copies = try Self.copies(in: own)
        defer { earlier[name] = copies }
        return "kill -9 of \(name), " + (try change(copies, in: own, planned, name))
    }

    private func change(
        _ copies: [String: Data],
        in own: String,
        _ planned: PlannedFault,
        _ name: String
    ) throws -> String {
        switch planned.fault {
        case .wipeState:
            for file in copies.keys { try FileManager.default.removeItem(atPath: own + "/" + file) }
            return "\(copies.count) copies removed"
        case .flipState:
            for (file, var bytes) in copies where !bytes.isEmpty {
                bytes[bytes.startIndex + Int(planned.target % UInt64(bytes.count))] ^= 4
                try bytes.write(to: URL(filePath: own + "/" + file))
            }
            return "a bit of each of \(copies.count) copies flipped"
        case .oldState:
            let old = earlier[name] ?? [:]
            try Self.write(old, in: own)
            return "\(old.count) earlier copies put back"
        default:
            let others = try FileManager.default.contentsOfDirectory(atPath: folder).map { folder + "/" + $0 }
                .filter { $0 != own }.sorted()
            guard !others.isEmpty else { return "no other one has copies" }
            let theirs = try Self.copies(in: others[Int(planned.target % UInt64(others.count))])
            try Self.write(theirs, in: own)
            return "\(theirs.count) copies of another one put there"
        }
    }

    private static func write(_ copies: [String: Data], in folder: String) throws {
        for (file, bytes) in copies { try bytes.write(to: URL(filePath: folder + "/" + file)) }
    }

    private static func copies(in folder: String) throws -> [String: Data] {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".snapshot") }
        // One that is being written replaces another, or is gone with its process.
        return files.reduce(into: [:]) { $0[$1] = FileManager.default.contents(atPath: folder + "/" + $1) }
    }

    /// The folder that a worker has open.
    private static func state(of process: ProgramProcess, below folder: String) -> String? {
        let files = "/proc/\(process.processID)/fd"
        let open = (try? FileManager.default.contentsOfDirectory(atPath: files)) ?? []
        let paths = open.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: files + "/" + $0) }
        return paths.lazy.compactMap { path -> String? in
            guard let place = path.range(of: "/state/") else { return nil }
            let instance = path[place.upperBound...].prefix { $0 != "/" }
            return instance.isEmpty ? nil : folder + "/" + instance
        }.first
    }
}
