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
            throw ClusterFault(description: "\(arguments.joined(separator: " ")) makes no progress")
        }
        return process
    }

    /// Runs a command to its end, which must be exit code 0.
    @discardableResult
    package static func done(_ arguments: [String], in folder: String, seconds: Int = 60) throws -> ProgramProcess {
        let process = try run(arguments, in: folder, seconds: seconds)
        guard process.end == .exit(0) else {
            throw ClusterFault(description: "\(arguments.joined(separator: " ")): \(process.error) \(process.output)")
        }
        return process
    }
}
