internal import AppCheck
internal import BrokerKit
internal import Foundation
internal import JSON
internal import Lab
internal import Streams
internal import TestKit
internal import Testing
internal import Traffic

/// A folder for what `simulate` writes, removed with its owner.
final class SimulationFolder: ReplayFolder {
    let path = FileManager.default.temporaryDirectory.path + "/simulate-" + UUID().uuidString
    var config: String { file("config") }

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A folder with a new configuration, whose app keeps receipts where a greatest metric is given.
    static func configured(mostServed: UInt16? = nil) throws -> SimulationFolder {
        let folder = try SimulationFolder()
        try NewConfiguration.write(to: folder.config, mostServed: mostServed)
        return folder
    }

    /// Starts a command of the built program on this folder's configuration.
    func start(_ command: String, _ arguments: [String] = []) throws -> ProgramProcess {
        try ProgramProcess([command, "--config", config] + arguments, in: path)
    }

    /// Runs `simulate` on this folder's configuration.
    func simulate(_ arguments: [String]) -> (code: Int32, transcript: Transcript) {
        Transcript.run(["simulate", "--config", config] + arguments)
    }

    /// Every verb of devices and their backends.
    static let allVerbs = ["--verbs", Verb.simulated.map(\.rawValue).joined(separator: ",")]

    /// The load of one device, for commands that are refused or that only make a configuration.
    static let least = ["--devices", "1", "--records", "1", "--output", "/dev/null"]

    /// Runs it with a capture as its output, and reads the capture.
    func capture(_ arguments: [String]) throws -> [InboundRecord] {
        try Transcript.done(["simulate", "--config", config, "--output", file("capture.ndjson")] + arguments)
        return try captured("capture.ndjson")
    }

    /// Replays the capture; returns each request's outcome by its id.
    func outcomes() throws -> [String: String] {
        try replayed()
        var outcomes: [String: String] = [:]
        for root in try results() { outcomes[try #require(root["requestId"]?.string)] = root.outcome }
        return outcomes
    }
}
