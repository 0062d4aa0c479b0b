import Foundation
import TestKit

/// Prometheus' own checker, where it is installed.
enum Promtool {
    static let path: String? = ["/usr/bin/promtool", "/usr/local/bin/promtool"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// `promtool check metrics`: findings of its linter are an exit code and lines.
    static func check(_ page: [UInt8]) throws -> (code: Int32, output: String) {
        try withFile(page) { run(["sh", "-c", #"exec "$0" check metrics < "$1""#, path ?? "promtool", $0]) }
    }

    static func run(_ arguments: [String]) -> (code: Int32, output: String) {
        let run = PythonLab.run(arguments)
        return (run.code, String(decoding: run.output, as: UTF8.self) + run.error)
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

    static func parse(_ page: [UInt8]) throws -> (code: Int32, output: String, error: String) {
        let run = try withFile(page) { PythonLab.run([PythonLab.python ?? "python3", "-c", script, $0]) }
        return (run.code, String(decoding: run.output, as: UTF8.self), run.error)
    }
}

/// Gives bytes as a file, for as long as `body` runs.
func withFile<Result>(_ bytes: [UInt8], _ body: (String) throws -> Result) throws -> Result {
    let file = FileManager.default.temporaryDirectory.appending(path: "metrics-\(UUID().uuidString)")
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try body(file.path())
}
