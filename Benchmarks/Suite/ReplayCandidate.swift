internal import Crypto
internal import Foundation
internal import Worker

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
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var candidate: Candidate {
        Candidate("replay, file to files", lanes: ProcessInfo.processInfo.activeProcessorCount) {
            self.run([
                "replay", "--config", self.folder + "/config", "--input", self.folder + "/capture.ndjson",
                "--output", self.folder + "/out",
            ])
            return self.records
        }
    }

    /// With each engine, on one lane.
    var oneLane: [Candidate] {
        let names = ["openssl", "portable"] + (BatchArithmetic.featureMissingForLanes == nil ? ["ifma"] : [])
        return names.map { engine in
            Candidate("replay, \(engine)") {
                self.run([
                    "replay", "--config", self.folder + "/config", "--input", self.folder + "/capture.ndjson",
                    "--output", self.folder + "/out", "--lanes", "1", "--engine", engine,
                ])
                return self.records
            }
        }
    }

    private func run(_ arguments: [String]) {
        var error: [UInt8] = []
        let console = Console(isTerminal: false, output: { _ in }, error: { error += $0 })
        let code = AttestWorker.main(arguments, commands: AttestWorker.commands, console: console)
        precondition(code == 0, String(decoding: error, as: UTF8.self))
    }
}
