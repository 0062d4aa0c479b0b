import BrokerKit
import Foundation
import Streams
import TestKit
import Testing

/// Another version of the program, beside which this one must work: a build of an earlier one, or of a later.
enum OtherVersion {
    static let program = ProcessInfo.processInfo.environment["OTHER_VERSION"].map { URL(filePath: $0) }
    static let whyMissing = "no other version: OTHER_VERSION is to be the path of its program"
}

extension ProgramWorkplace {
    fileprivate func start(_ command: String, _ arguments: [String], of version: URL?) throws -> ProgramProcess {
        try ProgramProcess([command, "--config", config] + arguments, in: folder, program: version)
    }

    /// Runs a command of a version to its end. - Returns: what it printed.
    fileprivate func printed(_ command: String, _ arguments: [String], of version: URL?) throws -> String {
        let process = try start(command, arguments, of: version)
        try #require(process.waitForEnd() == .exit(0), "\(command): \(process.error)")
        return process.output
    }
}

extension WorkProgramTests {
    /// The workers of a rolling upgrade and of the way back: each step replaces one of two.
    @Test(.enabled(if: OtherVersion.program != nil, "\(OtherVersion.whyMissing)"))
    func `two versions share a group, forward and back, and each request has one outcome`() throws {
        let workplace = try ProgramWorkplace("upgrade") { $0.members = #""batch": {"records": 40},"# }
        let all = try workplace.simulated(devices: 30, records: 1_000, verbs: ProgramWorkplace.verbsOfKeys)
        let steps: [(name: String, version: URL?)] = [
            ("one", OtherVersion.program), ("two", OtherVersion.program), ("one", nil), ("two", nil),
            ("one", OtherVersion.program), ("two", OtherVersion.program),
        ]
        var (workers, sent): ([String: ProgramProcess], Int) = ([:], 0)
        for (index, step) in steps.enumerated() {
            workers[step.name]?.expectEnd()
            // Load while the group has a member less.
            let part = all[sent..<min(all.count, sent + all.count / (steps.count * 2))]
            try workplace.put(Array(part))
            workers[step.name] = try workplace.start("run", ["--instance", step.name], of: step.version)
            #expect(try workplace.hasMembers(workers.count), "\(workers.values.map(\.error))")
            let rest = all[part.endIndex..<min(all.count, part.endIndex + all.count / (steps.count * 2))]
            try workplace.put(Array(rest))
            sent = rest.endIndex
            #expect(try workplace.hasOutcomes(sent, of: Array(workers.values)), "step \(index)")
        }
        try workplace.put(Array(all[sent...]))
        #expect(try workplace.hasOutcomes(all.count, of: Array(workers.values)))
        for worker in workers.values {
            worker.signal(SIGTERM)
            #expect(worker.waitForEnd() == .exit(0) && !worker.error.contains("is held"), "\(worker.error)")
        }
        #expect(try Outcomes(of: workplace).counts == ["accepted": all.count])
        #expect(try workplace.hasMembers(0))
        let keys = try workplace.printed("export-keys", ["--output", "-"], of: nil)
        #expect(keys.split(separator: "\n").count == 30)
        #expect(try workplace.printed("export-keys", ["--output", "-"], of: OtherVersion.program) == keys)
    }

    @Test(
        .enabled(if: OtherVersion.program != nil, "\(OtherVersion.whyMissing)"),
        arguments: [true, false]
    )
    func `keys that one version exports the other imports, and their assertions are accepted`(isForward: Bool) throws {
        let (from, to): (URL?, URL?) = isForward ? (OtherVersion.program, nil) : (nil, OtherVersion.program)
        let workplace = try ProgramWorkplace("moved-\(isForward)")
        let all = try workplace.simulated(devices: 10, records: 100, verbs: ProgramWorkplace.verbsOfKeys)
        try workplace.put(Array(all[..<60]))
        let first = try workplace.start("run", ["--instance", "one"], of: from)
        #expect(try workplace.hasOutcomes(60, of: [first]), "\(first.error)")
        first.expectEnd()
        #expect(try workplace.hasMembers(0))
        let keys = workplace.file("keys.ndjson")
        _ = try workplace.printed("export-keys", ["--output", keys], of: from)
        _ = try workplace.printed("reset", ["--yes"], of: to)
        _ = try workplace.printed("import-keys", ["--input", keys], of: to)
        let second = try workplace.start("run", ["--instance", "one"], of: to)
        try workplace.put(Array(all[60...]))
        #expect(try workplace.hasOutcomes(100, of: [second]), "\(second.error)")
        second.signal(SIGTERM)
        #expect(second.waitForEnd() == .exit(0) && !second.error.contains("is held"), "\(second.error)")
        #expect(try Outcomes(of: workplace).counts == ["accepted": 100])
    }
}
