package import Foundation

/// A Python with the packages that tests ask, made once and kept under `.build`.
package enum PythonLab {
    /// The interpreter, or why it is missing.
    package static let state: Result<String, Missing> = make()

    package struct Missing: Error, CustomStringConvertible { package let description: String }

    package static var python: String? { try? state.get() }

    package static var whyMissing: String {
        if case .failure(let missing) = state { "Python is not tried: \(missing)" } else { "" }
    }

    package static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "verify_tokens.py")
        .path()

    /// Pinned, so that a failure is ours.
    private static let packages = ["firebase_admin==7.7.0", "prometheus_client==0.23.1", "jsonschema==4.25.1"]

    private static func make() -> Result<String, Missing> {
        let folder = PackageFolder.url.appending(path: ".build/python-lab").path()
        // Another list of packages makes another lab.
        let (python, mark) = (folder + "/bin/python3", folder + "/complete-" + packages.joined(separator: "-"))
        if FileManager.default.fileExists(atPath: mark) { return .success(python) }
        try? FileManager.default.removeItem(atPath: folder)
        let steps: [(arguments: [String], remedy: String)] = [
            (["python3", "-m", "venv", folder], "python3 and python3-venv are needed"),
            (
                [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"]
                    + ["--timeout", "20"] + packages,
                "PyPI is not reached"
            ),
        ]
        for step in steps {
            let run = run(step.arguments)
            guard run.code == 0 else {
                return .failure(Missing(description: "\(step.remedy): \(run.error.suffix(200))"))
            }
        }
        guard FileManager.default.createFile(atPath: mark, contents: nil) else {
            return .failure(Missing(description: "cannot write \(mark)"))
        }
        return .success(python)
    }

    /// Runs a program to its end.
    package static func run(_ arguments: [String]) -> (code: Int32, output: Data, error: String) {
        let process = Process()
        let (output, errors) = (Pipe(), FileManager.default.temporaryDirectory.path + "/python-" + UUID().uuidString)
        _ = FileManager.default.createFile(atPath: errors, contents: nil)
        defer { try? FileManager.default.removeItem(atPath: errors) }
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle(forWritingAtPath: errors)
        do { try process.run() } catch { return (127, Data(), error.localizedDescription) }
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: FileManager.default.contents(atPath: errors) ?? Data(), as: UTF8.self)
        return (process.terminationStatus, bytes, text)
    }
}
