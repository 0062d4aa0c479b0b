import Foundation
import TestKit

/// Prometheus' own checker, where it is installed.
enum Promtool {
    static let path: String? = ["/usr/bin/promtool", "/usr/local/bin/promtool"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// `promtool check metrics`: findings of its linter are an exit code and lines.
    static func check(_ page: [UInt8]) throws -> (code: Int32, output: String) {
        try run([path ?? "promtool", "check", "metrics"], input: page)
    }

    static func run(_ arguments: [String], input: [UInt8]) throws -> (code: Int32, output: String) {
        let file = FileManager.default.temporaryDirectory.appending(path: "metrics-\(UUID().uuidString)")
        try Data(input).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: arguments[0])
        process.arguments = Array(arguments.dropFirst())
        process.standardInput = try FileHandle(forReadingFrom: file)
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: bytes, as: UTF8.self))
    }
}

/// prometheus_client's strict parser of OpenMetrics, in the tests' Python.
enum MetricsPython {
    private static let script = """
        import sys
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
        text = open(sys.argv[1], encoding='utf-8').read()
        print(sum(len(family.samples) for family in text_string_to_metric_families(text)))
        """

    static var python: String? { PythonLab.python }
    static var whyMissing: String { PythonLab.whyMissing }

    static func parse(_ page: [UInt8]) throws -> (code: Int32, output: String, error: String) {
        let file = FileManager.default.temporaryDirectory.appending(path: "metrics-\(UUID().uuidString)")
        try Data(page).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let run = PythonLab.run([python ?? "python3", "-c", script, file.path()])
        return (run.code, String(decoding: run.output, as: UTF8.self), run.error)
    }
}
