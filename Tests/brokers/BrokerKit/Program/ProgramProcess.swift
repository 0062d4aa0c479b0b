package import Foundation
internal import TestKit

package enum ProcessEnd: Sendable, Equatable, CustomStringConvertible {
    case exit(Int32)
    case signal(Int32)

    package var description: String {
        switch self {
        case .exit(let code): "exit code \(code)"
        case .signal(let number): "signal \(number)"
        }
    }
}

/// One process of the program. Its two streams go to files, so that it never waits for a reader.
///
/// For one thread at a time.
package final class ProgramProcess {
    private let process = Process()
    private let streams: String

    /// - Parameters:
    ///   - streams: the path of the streams' files, without `.out` and `.err`.
    ///   - environment: beside this process's own.
    ///   - program: nil = the built one.
    package init(
        _ arguments: [String],
        streams: String,
        environment: [String: String] = [:],
        program: URL? = nil
    ) throws {
        self.streams = streams
        guard let program = program ?? WorkerBinary.url else {
            throw ClusterFault(description: WorkerBinary.whyMissing)
        }
        process.executableURL = program
        process.arguments = arguments
        // A backtrace of a crash would keep the streams open for longer than the process lives.
        let own = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        process.environment = own.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try Self.file(streams + ".out")
        process.standardError = try Self.file(streams + ".err")
        try process.run()
        try ProgramLeash.shared.hold(process.processIdentifier)
    }

    /// With the streams' files in a folder, under a name of their own.
    package convenience init(
        _ arguments: [String],
        in folder: String,
        environment: [String: String] = [:],
        program: URL? = nil
    ) throws {
        let streams = "\(folder)/\(arguments.first ?? "program")-\(UUID().uuidString)"
        try self.init(arguments, streams: streams, environment: environment, program: program)
    }

    deinit {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    package var isRunning: Bool { process.isRunning }
    package var processID: Int32 { process.processIdentifier }
    package var output: String { Self.text(streams + ".out") }
    package var error: String { Self.text(streams + ".err") }

    /// nil while it runs.
    package var end: ProcessEnd? {
        guard !process.isRunning else { return nil }
        let status = process.terminationStatus
        return process.terminationReason == .exit ? .exit(status) : .signal(status)
    }

    package func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// - Parameter seconds: without progress.
    /// - Returns: nil when it still runs and has stood still.
    package func waitForEnd(seconds: Int = 30) -> ProcessEnd? {
        _ = eventually(seconds: seconds, { progress }, until: { _ in !isRunning })
        return end
    }

    /// Waits until the process has said something so often on one of its streams, as long as it runs and gets on.
    package func says(_ text: String, times: Int = 1, seconds: Int = 30) -> Bool {
        var isSaid: Bool { [output, error].contains { $0.count(of: text) >= times } }
        _ = eventually(seconds: seconds, { progress }, until: { _ in !isRunning || isSaid })
        return isSaid
    }

    package var progress: ProcessProgress {
        ProcessProgress(of: processID, files: [streams + ".out", streams + ".err"])
    }

    /// Creates an empty file to write to.
    static func file(_ path: String) throws -> FileHandle {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else { throw ClusterFault(description: "cannot write \(path)") }
        return file
    }

    private static func text(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
}

extension ProgramProcess {
    /// The count in the last line that a run prints.
    package var requests: Int {
        let parts = error.components(separatedBy: " requests: ")
        guard parts.count > 1, let count = parts[parts.count - 2].split(separator: " ").last else { return -1 }
        return Int(count.filter(\.isNumber)) ?? -1
    }

    /// How often standard error holds a text.
    package func errors(_ text: String) -> Int { error.count(of: text) }

    /// Standard error without the warnings of a lab authority's roots, which every workplace trusts, of passwords in clear
    /// text, which do not leave this machine, and of lines of receipts that are exchanged at one time, so that no test waits a day.
    package var errorBesideLab: String {
        let lab = ["is a lab authority's root", "in clear text", "risk.late is not after risk.again"]
        return error.split(separator: "\n").filter { line in !lab.contains { line.contains($0) } }
            .joined(separator: "\n")
    }

    /// Whether standard error holds one line, with this beginning, and standard output nothing.
    ///
    /// - Parameter start: with the program's name; a running worker's log has time, level and event instead.
    package func saysOneLine(_ start: String) -> Bool {
        let lines = error.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 2, lines[1].isEmpty, output.isEmpty else { return false }
        if lines[0].hasPrefix(start) { return true }
        let words = lines[0].split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        return words.count == 4 && words[0].hasSuffix("Z") && words[2].hasSuffix(":")
            && words[3].hasPrefix(start.dropFirst("attest-worker: ".count))
    }
}

extension String {
    fileprivate func count(of text: String) -> Int { components(separatedBy: text).count - 1 }
}
