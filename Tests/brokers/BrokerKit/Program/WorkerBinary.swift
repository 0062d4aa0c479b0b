package import Foundation
internal import TestKit

/// The built program.
package enum WorkerBinary {
    /// Beside what runs now (the test bundle, a tool), whatever the scratch path is; else where a plain debug build
    /// puts it.
    package static let url: URL? = {
        let running = Bundle.main.executableURL ?? URL(filePath: ProcessInfo.processInfo.arguments[0])
        let folders = [
            running.resolvingSymlinksInPath().deletingLastPathComponent(),
            PackageFolder.url.appending(path: ".build/debug"),
        ]
        return folders.map { $0.appending(path: "attest-worker") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path()) }
    }()

    package static let whyMissing = "the program is not built: swift build"

    /// Runs a command to its end. - Returns: the process, for its exit and what it said.
    package static func run(_ arguments: [String], in folder: String, seconds: Int = 60) throws -> ProgramProcess {
        let process = try ProgramProcess(arguments, in: folder)
        guard process.waitForEnd(seconds: seconds) != nil else {
            process.signal(SIGKILL)
            throw ProgramFault(description: "\(arguments.joined(separator: " ")) makes no progress")
        }
        return process
    }

    /// Runs a command to its end, which must be exit code 0.
    @discardableResult
    package static func done(_ arguments: [String], in folder: String, seconds: Int = 60) throws -> ProgramProcess {
        let process = try run(arguments, in: folder, seconds: seconds)
        guard process.end == .exit(0) else {
            throw ProgramFault(description: "\(arguments.joined(separator: " ")): \(process.error) \(process.output)")
        }
        return process
    }

    /// Whether the program has a command of that name.
    package static func has(command: String) -> Bool {
        guard let process = try? run([command, "--help"], in: NSTemporaryDirectory(), seconds: 30) else { return false }
        defer { process.removeStreams() }
        return process.end == .exit(0)
    }
}

package struct ProgramFault: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}
