internal import TestKit

/// A call by curl.
package enum Curl {
    /// - Returns: the status, 0 without a whole answer, the body, and the seconds that it took.
    package static func call(_ arguments: String...) -> (status: Int, body: String, seconds: Double) { call(arguments) }

    package static func call(_ arguments: [String]) -> (status: Int, body: String, seconds: Double) {
        let figures = ["-w", "\n%{http_code} %{time_total}"]
        let run = PythonLab.run(["curl", "-s", "--path-as-is", "--max-time", "40"] + figures + arguments)
        let lines = String(decoding: run.output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let words = (lines.last ?? "").split(separator: " ")
        let status = run.code == 0 ? Int(words.first ?? "") ?? 0 : 0
        return (status, lines.dropLast().joined(separator: "\n"), Double(words.last ?? "") ?? 0)
    }

    /// A page of a worker or gateway on this machine.
    package static func page(_ port: Int, _ path: String, seconds: Double = 40) -> (status: Int, body: String) {
        let answer = call("--max-time", String(seconds), "http://127.0.0.1:\(port)\(path)")
        return (answer.status, answer.body)
    }

    /// The sum of a family's series on a page of metrics.
    package static func sum(_ family: String, _ page: String) -> Int {
        page.split(separator: "\n").filter { $0.hasPrefix(family + "{") || $0.hasPrefix(family + " ") }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    }
}
