import Foundation
import Testing

/// The built program, started as a user starts it.
enum WorkerProgram {
    /// Beside the test bundle, whatever the scratch path is; else where a plain debug build puts it.
    static let url: URL? = {
        let bundle = Bundle.main.executableURL ?? URL(filePath: ProcessInfo.processInfo.arguments[0])
        let root = (0..<3).reduce(URL(filePath: #filePath)) { path, _ in path.deletingLastPathComponent() }
        let folders = [
            bundle.resolvingSymlinksInPath().deletingLastPathComponent(), root.appending(path: ".build/debug"),
        ]
        return folders.map { $0.appending(path: "attest-worker") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path()) }
    }()
}

/// One process of the program. Its two streams go to files, so that it never waits for a reader.
final class WorkerProcess {
    private let process = Process()
    private let streams: String

    /// - Parameters:
    ///   - folder: where the streams' files are made.
    ///   - environment: beside this process's own.
    init(_ arguments: [String], folder: String, environment: [String: String] = [:]) throws {
        streams = folder + "/process-" + UUID().uuidString
        let program: URL = try #require(WorkerProgram.url, "the program is not built: swift build")
        process.executableURL = program
        process.arguments = arguments
        if !environment.isEmpty {
            process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try Self.file(streams + ".out")
        process.standardError = try Self.file(streams + ".err")
        try process.run()
        try WorkerLeash.shared.hold(process.processIdentifier)
    }

    deinit {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    var isRunning: Bool { process.isRunning }
    var output: String { Self.text(streams + ".out") }
    var error: String { Self.text(streams + ".err") }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// The exit code; nil (and an issue) when a signal ended the process, or nothing did in time.
    func exitCode(seconds: Int = 60, _ location: SourceLocation = #_sourceLocation) -> Int32? {
        guard wait(seconds, until: { !process.isRunning }) else {
            Issue.record("still running: \(error.suffix(500))", sourceLocation: location)
            return nil
        }
        guard process.terminationReason == .exit else {
            Issue.record("ended by signal \(process.terminationStatus)", sourceLocation: location)
            return nil
        }
        return process.terminationStatus
    }

    /// Waits until the process has said something on one of its streams.
    func waits(until text: String, seconds: Int = 30) -> Bool {
        wait(seconds) { output.contains(text) || error.contains(text) || !process.isRunning }
            && (output.contains(text) || error.contains(text))
    }

    /// Whether standard error holds one line, with this beginning, and standard output nothing.
    func saysOneLine(_ start: String) -> Bool {
        let lines = error.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.count == 2 && lines[0].hasPrefix(start) && lines[1].isEmpty && output.isEmpty
    }

    private static func file(_ path: String) throws -> FileHandle {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        return try #require(FileHandle(forWritingAtPath: path))
    }

    private static func text(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
}

/// A shell that outlives this process by a moment: however a test run ends, the programs that it started end with it.
final class WorkerLeash: Sendable {
    static let shared = WorkerLeash()

    private let words = Pipe()

    private init() {
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", Self.script, "sh", WorkerProgram.url?.resolvingSymlinksInPath().path() ?? ""]
        shell.standardInput = words
        shell.standardOutput = FileHandle.nullDevice
        shell.standardError = FileHandle.nullDevice
        // Without it the tests are the same; only an interrupted run would leave something behind.
        try? shell.run()
    }

    func hold(_ process: pid_t) throws {
        try words.fileHandleForWriting.write(contentsOf: Data("\(process)\n".utf8))
    }

    /// A number that another program has by now is left alone.
    private static let script = """
        held=
        while read -r number; do held="$held $number"; done
        for number in $held; do
          if [ "$(readlink "/proc/$number/exe")" = "$1" ]; then kill -KILL "$number"; fi
        done
        """
}

/// Looks every few milliseconds. - Returns: false when it did not come true in time.
func wait(_ seconds: Int, until condition: () throws -> Bool) rethrows -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while try !condition() {
        guard ContinuousClock.now < deadline else { return false }
        usleep(20_000)
    }
    return true
}
