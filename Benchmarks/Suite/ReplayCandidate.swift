internal import CProcessorProbe
internal import CommandFrame
internal import Commands
internal import Foundation

/// The whole program from a capture file to its result files: simulate once, replay in every round.
final class ReplayCandidate {
    private let folder: String
    private let records: Int

    /// - Parameters:
    ///   - records: in the capture, of which as many are attestations as there are devices.
    init(records: Int, devices: Int) throws {
        folder = FileManager.default.temporaryDirectory.path + "/benchmark-" + UUID().uuidString
        self.records = records
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        run([
            "simulate", "--config", folder + "/config", "--new-config", "--devices", "\(devices)",
            "--records", "\(records)", "--start", "2026-11-20T12:00:00Z", "--output", folder + "/capture.ndjson",
        ])
        try ignoreReceipts()
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// On as many lanes as there are cores, with the engine that the program chooses.
    var allLanes: Candidate { lanes(ProcessInfo.processInfo.activeProcessorCount) }

    /// With the engine that the program chooses.
    func lanes(_ count: Int, baseline: String? = nil) -> Candidate {
        let name = "replay, \(count) lane\(count == 1 ? "" : "s")"
        return Candidate(name, lanes: count, baseline: baseline) { self.replay(lanes: count) }
    }

    /// Every thread of the program on one core.
    var onOneCore: Candidate {
        Candidate("replay, 1 lane, bound to one core") {
            precondition(probe_bind_to_one_core() == 1, "a process may bind its own threads")
            defer { probe_unbind() }
            return self.replay(lanes: 1)
        }
    }

    /// With each engine, on one lane.
    func engines(receipts: Bool = true) -> [Candidate] {
        ([EngineCandidates.openSSL] + EngineCandidates.engines).map { engine in
            Candidate("replay, \(engine)", engine: engine) {
                self.replay(lanes: 1, engine, receipts: receipts)
            }
        }
    }

    private func replay(lanes: Int, _ engine: String? = nil, receipts: Bool = true) -> Int {
        var arguments = [
            "replay", "--config", folder + (receipts ? "/config" : "/no-receipts"), "--input",
            folder + "/capture.ndjson", "--output", folder + "/out", "--lanes", "\(lanes)",
        ]
        if let engine { arguments += ["--engine", engine] }
        run(arguments)
        return records
    }

    /// The same configuration, but with `receipt: ignore`.
    private func ignoreReceipts() throws {
        let other = folder + "/no-receipts"
        try FileManager.default.copyItem(atPath: folder + "/config", toPath: other)
        let apps = try String(contentsOfFile: other + "/apps.json", encoding: .utf8)
        let place = #""environments":"#
        precondition(apps.contains(place), "a new configuration has an app with its environments")
        let edited = apps.replacingOccurrences(of: place, with: #""receipt": "ignore", "# + place)
        try edited.write(toFile: other + "/apps.json", atomically: true, encoding: .utf8)
    }

    private func run(_ arguments: [String]) {
        var error: [UInt8] = []
        let console = Console(isTerminal: false, output: { _ in }, error: { error += $0 })
        let code = AttestWorker.main(arguments, commands: AttestWorker.commands, console: console)
        precondition(code == 0, String(decoding: error, as: UTF8.self))
    }
}
