import TestKit

/// A call by curl.
enum Curl {
    /// - Returns: the status, 0 without an answer, the body, and the seconds that it took.
    static func call(_ arguments: String...) -> (status: Int, body: String, seconds: Double) { call(arguments) }

    static func call(_ arguments: [String]) -> (status: Int, body: String, seconds: Double) {
        let figures = ["-w", "\n%{http_code} %{time_total}"]
        let run = PythonLab.run(["curl", "-s", "--path-as-is", "--max-time", "40"] + figures + arguments)
        let lines = String(decoding: run.output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let words = (lines.last ?? "").split(separator: " ")
        return (
            Int(words.first ?? "") ?? 0, lines.dropLast().joined(separator: "\n"), Double(words.last ?? "") ?? 0
        )
    }
}
